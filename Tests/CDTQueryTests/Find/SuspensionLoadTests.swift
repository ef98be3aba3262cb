import CDTPlatform
import CDTSQLite
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTDatastore
@testable import CDTIndex
@testable import CDTQuery

/// Suspends a store at random instants while threads, and another process, use it in every way. `SUSPENSIONS` is
/// the number of instants: 60 in `make test`.
@Suite(.timeLimit(.minutes(600))) struct SuspensionLoadTests {
  private static let instants = ProcessInfo.processInfo.environment["SUSPENSIONS"].flatMap { Int($0) } ?? 60
  private static let key = Encryption.key((0..<32).map { UInt8($0) })

  /// What one thread does again and again. It gets the number of the round.
  private struct Work: Sendable {
    let name: String
    let step: @Sendable (_ round: Int) throws -> Void
  }

  private static func body(_ n: Int) -> JSONObject {
    [
      "n": n.jsonValue, "group": (n % 10).jsonValue,
      "text": .string("a note of word\(n % 50) " + String(repeating: "z", count: 900)),
    ]
  }

  /// - Parameter saved: Takes the ids of documents whose write has succeeded.
  private static func work(on store: Datastore, _ saved: Gathered<String>) -> [Work] {
    func write(_ writer: String) -> Work {
      Work(name: "write") { round in
        if round % 3 == 0 {
          let ids = (0..<40).map { "\(writer)-\(round)-\($0)" }
          try store.write { transaction in
            for (n, id) in ids.enumerated() {
              try transaction.createDocument(from: DocumentDraft(id: id, body: Self.body(n)))
            }
          }
          for id in ids { saved.append(id) }
        } else {
          try store.createDocument(from: DocumentDraft(id: "\(writer)-\(round)", body: Self.body(round)))
          saved.append("\(writer)-\(round)")
        }
      }
    }
    return [
      write("first"), write("second"),
      Work(name: "attachment") { round in
        let data = Data(repeating: UInt8(round % 256), count: 60_000 + round)
        let attachment = DocumentAttachment(data: data, name: "x", contentType: "")
        try store.createDocument(
          from: DocumentDraft(id: "attachment-\(round)", body: [:], attachments: [attachment]))
        saved.append("attachment-\(round)")
        // It may not have been created.
        let old = "attachment-\(round - 20)"
        if saved.all.contains(old) { try store.deleteDocument(withID: old) }
      },
      Work(name: "find") { round in
        _ = try store.find(["group": (round % 10).jsonValue, "n": ["$gte": 3]], limit: 100)
        _ = try store.count(["text": ["$regex": "word7 "]])
      },
      Work(name: "results") { round in
        let results = try store.results(for: Query(["n": ["$gte": 0]]))
        for _ in 0..<round % 200 { _ = try results.next() }
      },
      Work(name: "index") { round in
        try store.ensureIndexed(["n", "group"], name: "temporary")
        try store.ensureIndexed(["group"], name: "by_group")
        if round % 2 == 1 { try store.deleteIndex(named: "temporary") }
      },
      Work(name: "compact") { _ in
        try store.compact()
        Sleep.microseconds(5_000)
      },
      Work(name: "check") { _ in
        _ = try store.checkIntegrity()
        Sleep.microseconds(5_000)
      },
    ]
  }

  @Test(arguments: [nil, key]) func `nothing is held after a suspension, and nothing is lost`(
    _ key: Encryption?
  ) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      // The documents have more pages than the cache.
      var options = DatastoreOptions(encryption: key)
      (options.busyTimeout, options.memoryBudget) = (.seconds(60), 1 << 20)
      let manager = try DatastoreManager(directory: directory, options: options)
      defer { manager.close() }
      let store = try await manager.datastore(named: "store")
      try await store.write { transaction in
        for number in 0..<3_000 {
          try transaction.createDocument(from: DocumentDraft(id: "old-\(number)", body: Self.body(number)))
        }
      }
      // Another object for the same files, with connections of its own, is not suspended.
      let other = try DatastoreManager(directory: directory, options: options)
      defer { other.close() }
      let saved = Gathered<String>()
      let problems = Gathered<String>()
      let isOver = Atomic(false)
      let suspended = Atomic(0)
      let live = Task {
        for try await update in try store.live(["group": 3]) {
          if isOver.load(ordering: .relaxed), update.results.contains(where: { $0.id == "end" }) {
            return true
          }
        }
        return false
      }
      let work = Self.work(on: store, saved)
      await onThreads(work.count + 1) { number in
        if number < work.count {
          var round = 0
          while !isOver.load(ordering: .relaxed) {
            do {
              try work[number].step(round)
            } catch let error as DatastoreError where error.code == .suspended {
              suspended.add(1, ordering: .relaxed)
              try? blockUntil("it goes on") { !store.suspension.isSuspended }
            } catch {
              problems.append("\(work[number].name): \(error)")
            }
            round += 1
          }
          return
        }
        var random = SeededGenerator(seed: 1)
        for instant in 0..<Self.instants {
          Sleep.microseconds(UInt32.random(in: 0..<40_000, using: &random))
          let isDone =
            instant % 2 == 0 ? store.suspend(within: .seconds(120)) : manager.suspend(within: .seconds(120))
          if !isDone { problems.append("\(instant): not everything was let go") }
          do {
            let held = try locks(below: directory)
            if !held.isEmpty { problems.append("\(instant): \(held)") }
            let open = openDatabases(below: directory)
            if !open.isEmpty { problems.append("\(instant): open \(open)") }
            if instant % 10 == 0 {
              let theirs = try other.datastore(named: "store")
              try theirs.createDocument(from: DocumentDraft(id: "other-\(instant)", body: Self.body(instant)))
              saved.append("other-\(instant)")
              try other.closeDatastore(named: "store")
            }
          } catch {
            problems.append("\(instant): \(error)")
          }
          instant % 2 == 0 ? store.resume() : manager.resume()
        }
        isOver.store(true, ordering: .relaxed)
      }
      #expect(problems.all == [])
      #expect(suspended.load(ordering: .relaxed) > 0)
      try await store.createDocument(from: DocumentDraft(id: "end", body: ["group": 3]))
      #expect(try await live.value)
      let known = Set(try await store.changes().documents.map(\.id))
      #expect(saved.all.filter { !known.contains($0) } == [])
      try await store.updateIndexes()
      let last = try await store.read { try $0.lastSequence() }
      #expect(try store.listIndexes().allSatisfy { $0.indexedSequence == last })
      #expect(try await store.checkIntegrity() == [])
    }
  }
}
