import CDTDatastore
import CDTQuery
import Foundation
import Synchronization
import TestSupport
import Testing

/// Managers stand for processes here: what they share is the files.
@Suite struct IndexFileRaceTests {
  @Test func `managers that make the index file at once make one`() throws {
    for _ in 0..<20 {
      try withTemporaryDirectory { directory in
        let managers = try (0..<4).map { _ in try DatastoreManager(directory: directory) }
        let stores = try managers.map { try $0.datastore(named: "store") }
        try stores[0].createDocument(from: DocumentRevision(id: "a", body: ["a": 1, "b": 2]))
        let failures = Mutex<[String]>([])
        onThreads(stores.count) { number in
          do {
            try stores[number].ensureIndexed(["a"], name: "by_a")
            try stores[number].ensureIndexed(["b"], name: "by_b_\(number % 2)")
            let found = try stores[number].find(["a": 1]).documents().count
            if found != 1 { failures.withLock { $0.append("\(found) documents") } }
            _ = try stores[number].listIndexes()
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
        #expect(failures.withLock { $0 } == [])
        for store in stores {
          #expect(try store.listIndexes().map(\.name) == ["by_a", "by_b_0", "by_b_1"])
        }
        for manager in managers { manager.closeDatastore(named: "store") }
        let again = try managers[0].datastore(named: "store")
        #expect(try again.listIndexes().map(\.name) == ["by_a", "by_b_0", "by_b_1"])
        managers[0].closeDatastore(named: "store")
      }
    }
  }

  @Test func `managers that find the file damaged at once agree on a new one`() throws {
    for _ in 0..<10 {
      try withTemporaryDirectory { directory in
        let managers = try (0..<4).map { _ in try DatastoreManager(directory: directory) }
        let first = try managers[0].datastore(named: "store")
        try first.createDocument(from: DocumentRevision(id: "a", body: ["a": 1]))
        try first.ensureIndexed(["a"], name: "by_a")
        managers[0].closeDatastore(named: "store")
        let file = "\(directory)/store/extensions/com.cloudant.sync.query/indexes.sqlite"
        try Data(repeating: 7, count: 8_192).write(to: URL(filePath: file))
        let stores = try managers.map { try $0.datastore(named: "store") }
        let failures = Mutex<[String]>([])
        onThreads(stores.count) { number in
          do {
            if number % 2 == 0 { try stores[number].updateAllIndexes() }
            let names = try stores[number].listIndexes().map(\.name)
            if names != ["by_a"] { failures.withLock { $0.append("\(names)") } }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
        #expect(failures.withLock { $0 } == [])
        for store in stores { #expect(try store.find(["a": 1]).documents().map(\.id) == ["a"]) }
        for manager in managers { manager.closeDatastore(named: "store") }
      }
    }
  }
}
