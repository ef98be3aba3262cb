import CDTDatastore
import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// A process that is killed at any moment loses nothing that it was told was saved, and harms nothing.
@Suite struct CrashTests {
  private static let rounds = 20

  /// Lets a child write and kills it at a random moment.
  ///
  /// - Returns: The last number that it has told.
  private func killed(_ command: String, _ directory: String, _ random: inout SeededGenerator) throws -> Int64
  {
    let child = try ChildProcess(command, directory)
    var last = child.line()
    for _ in 0..<Int.random(in: 0..<6, using: &random) { last = child.line() ?? last }
    usleep(UInt32.random(in: 0..<8_000, using: &random))
    last = child.kill() ?? last
    return Int64(last ?? "") ?? 0
  }

  @Test(arguments: ["write", "compact"]) func `killed in the middle it has kept every commit`(
    _ command: String
  ) throws {
    let seed = testSeed(2)
    var random = SeededGenerator(seed: seed)
    try withTemporaryDirectory { directory in
      var manager = try DatastoreManager(directory: directory)
      try manager.datastore(named: "store").write { transaction in
        for number in 0..<5 {
          try transaction.createDocument(from: DocumentRevision(id: "\(number)", body: ["n": 0]))
        }
        try transaction.forceInsert(try remote("1-!rival", of: "0", body: ["rival": true]))
      }
      var known: Int64 = 0
      for round in 0..<Self.rounds {
        manager.closeDatastore(named: "store")
        let told = try killed(command, directory, &random)
        #expect(told > known, "seed \(seed), round \(round)")
        manager = try DatastoreManager(directory: directory)
        let store = try manager.datastore(named: "store")
        let findings = try store.checkIntegrity()
        #expect(findings == [], "seed \(seed), round \(round)")
        let documents = try store.allDocuments()
        let counts = documents.map { $0.body["n"]?.intValue ?? -1 }
        #expect(
          counts.count == 5 && counts.allSatisfy { $0 == counts[0] && $0 >= told }, "seed \(seed): \(counts)")
        for document in documents {
          let data = try document.attachments["n"]?.data()
          #expect(data == Data("\(counts[0])".utf8), "seed \(seed), round \(round)")
        }
        #expect(try store.liveRevisions(ofDocument: "0").last?.body == ["rival": true])
        known = counts[0]
      }
      // What the kills have left goes.
      let store = try manager.datastore(named: "store")
      try store.compact()
      #expect(store.attachmentFileNames.count == 1)
      #expect(try store.revisionHistory(of: store.document(withID: "1")).count == Int(known) + 1)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `killed while it deletes, the datastore is whole or gone`() throws {
    let seed = testSeed(3)
    var random = SeededGenerator(seed: seed)
    try withTemporaryDirectory { directory in
      for round in 0..<Self.rounds {
        _ = try killed("delete", directory, &random)
        let manager = try DatastoreManager(directory: directory)
        let entries = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(entries == [] || entries == ["victim"], "seed \(seed), round \(round)")
        if try manager.datastoreNames() == ["victim"] {
          let store = try manager.datastore(named: "victim")
          let (count, findings) = (try store.documentCount, try store.checkIntegrity())
          #expect(count == 0 || count == 50, "seed \(seed), round \(round)")
          #expect(findings == [], "seed \(seed), round \(round)")
          try manager.deleteDatastore(named: "victim")
        }
      }
    }
  }

  @Test func `a large attachment is saved, read, written out and copied in constant memory`() throws {
    try withTemporaryDirectory { directory in
      let child = try ChildProcess("stream", directory, "64")
      let line = try #require(child.line())
      let numbers = line.split(separator: " ").compactMap { Int($0) }
      #expect(child.wait())
      #expect(numbers.count == 2 && numbers[0] == 64 << 20)
      #expect(numbers[1] < 16 << 10, "the peak grew by \(numbers[1]) KiB")
      #expect(
        FileManager.default.contentsEqual(atPath: "\(directory)/source", andPath: "\(directory)/target"))
    }
  }
}
