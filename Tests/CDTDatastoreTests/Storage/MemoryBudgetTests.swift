import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore

/// A datastore takes no more memory than it is allowed, however many threads use it.
@Suite struct MemoryBudgetTests {
  // MARK: Shares

  private static let least = 40 * 1_024

  @Test func `a reader alone has most of what is shared, and twelve have a twelfth each`() {
    let budget = MemoryBudget(64 * Self.mebibyte)
    #expect(budget.writerShare == 4 * Self.mebibyte)
    #expect(budget.indexShare == 8 * Self.mebibyte)
    budget.addReader()
    let alone = budget.trade(0)
    #expect(alone == 36 * Self.mebibyte)
    #expect(budget.trade(alone) == alone)
    for _ in 1..<12 { budget.addReader() }
    #expect(budget.trade(alone) == 48 * Self.mebibyte / 12)
    for _ in 1..<12 { budget.removeReader(0) }
    #expect(budget.trade(48 * Self.mebibyte / 12) == alone)
  }

  /// Whatever comes and goes, in any order, no more is lent than there is.
  @Test func `no more is lent than there is`() {
    var random = SeededGenerator(seed: 3)
    for total in [8, 64, 100].map({ $0 * Self.mebibyte }) {
      let budget = MemoryBudget(total)
      let shared = total - total / 4
      var readers: [Int] = []
      for _ in 0..<2_000 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3 where readers.count < 40:
          budget.addReader()
          readers.append(budget.trade(0))
        case 3 where !readers.isEmpty:
          budget.removeReader(readers.removeLast())
        case 4:
          let builder = budget.borrow(budget.indexShare)
          #expect(readers.reduce(builder.bytes, +) <= shared + (readers.count + 1) * Self.least)
          #expect(builder.bytes >= Self.least && builder.bytes <= budget.indexShare)
        default:
          guard let number = readers.indices.randomElement(using: &random) else { break }
          readers[number] = budget.trade(readers[number])
          #expect(readers[number] >= Self.least)
        }
        let kept = readers.filter { $0 > Self.least }.reduce(0, +)
        #expect(kept <= shared)
      }
      // When each has been lent to once more, they have the same.
      for _ in 0..<2 { readers = readers.map { budget.trade($0) } }
      #expect(Set(readers).count <= 1, "\(readers)")
    }
  }

  @Test(arguments: [0, -1, Int.min, 1, 50_000]) func `a budget of nearly nothing lets everyone work`(
    total: Int
  ) {
    let budget = MemoryBudget(total)
    budget.addReader()
    #expect(budget.trade(0) == Self.least)
    #expect(budget.borrow(1 << 20).bytes == Self.least)
    #expect(budget.writerShare == Self.least)
    #expect(budget.indexShare == Self.least)
  }

  @Test func `a budget beyond all bounds is taken`() throws {
    let budget = MemoryBudget(.max)
    for _ in 0..<50 { budget.addReader() }
    let shares = (0..<50).map { _ in budget.trade(0) }
    #expect(shares.allSatisfy { $0 == shares[0] })
    #expect(budget.borrow(1 << 20).bytes > 0)
  }

  @Test(arguments: [Int.min, 0, .max]) func `any budget opens a store`(total: Int) throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.memoryBudget = total
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store.ensureIndexed(["n"])
      #expect(try store.find(["n": 1], sort: ["n"]).map(\.id) == ["a"])
      try manager.closeDatastore(named: "store")
    }
  }

  // MARK: In use

  private static let mebibyte = 1 << 20

  /// What `cdt-store-worker memory` prints, in bytes.
  private struct Report: Codable {
    var sqlite = 0
    var grown = 0
    var failures: [String] = []
  }

  /// Documents of 50 megabytes in all.
  private static func fill(_ store: Datastore) throws {
    var random = SeededGenerator(seed: 1)
    let filler = JSONValue.string(String(repeating: "0123456789abcdef", count: 256))
    for batch in 0..<12 {
      try store.write { transaction in
        for number in batch * 1_000..<(batch + 1) * 1_000 {
          let text = String(random.next(), radix: 16) + String(random.next(), radix: 16)
          try transaction.createDocument(
            from: DocumentDraft(
              id: "d\(number)",
              body: [
                "n": .int(Int64(number)), "kind": .int(Int64(number % 3)), "text": .string(text),
                "filler": filler,
              ]))
        }
      }
    }
  }

  /// What a budget does not cover: of each of some 16 connections what SQLite needs to work at all, and of each sort that goes
  /// to the disk the 250 pages that SQLite sorts at a time; in the process stacks, the allocator, and documents that are
  /// being read.
  private static let fixed = (sqlite: 16 * 400 * 1_024, process: 24 * mebibyte)

  @Test func `twelve threads on a store larger than the budget stay within it`() async throws {
    let directory =
      FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    let path = "\(directory)/cdt-\(UUID().uuidString)"
    defer { removeDirectory(path) }
    var options = DatastoreOptions()
    options.durability = .normal
    let manager = try DatastoreManager(directory: path, options: options)
    try await Self.fill(try manager.datastore(named: "store"))
    try await manager.closeDatastore(named: "store")
    let budget = 12 * Self.mebibyte
    let (status, output) = try await BuiltProgram("cdt-store-worker", ["memory", path, "\(budget)"]).ended()
    #expect(status == 0)
    let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
    #expect(report.failures == [])
    #expect(report.sqlite < budget + Self.fixed.sqlite, "\(report.sqlite / 1_024) KiB")
    // The thread sanitizer keeps as much again, and more, for what it knows of each byte.
    if ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil {
      #expect(report.grown < budget + Self.fixed.process, "\(report.grown / 1_024) KiB")
    }
    // It is used, too.
    #expect(report.sqlite > budget / 2, "\(report.sqlite / 1_024) KiB")
  }
}
