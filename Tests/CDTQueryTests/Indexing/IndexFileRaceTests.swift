import CDTDatastore
import CDTPlatform
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Managers stand for processes here: what they share is the files.
@Suite struct IndexFileRaceTests {
  @Test func `managers that make the index file at once make one`() throws {
    for _ in 0..<20 {
      try withTemporaryDirectory { directory in
        let managers = try (0..<4).map { _ in try DatastoreManager(directory: directory) }
        let stores = try managers.map { try $0.datastore(named: "store") }
        try stores[0].createDocument(from: DocumentDraft(id: "a", body: ["a": 1, "b": 2]))
        let failures = Mutex<[String]>([])
        onThreads(stores.count) { number in
          do {
            try stores[number].ensureIndexed(["a"], name: "by_a")
            try stores[number].ensureIndexed(["b"], name: "by_b_\(number % 2)")
            let found = try stores[number].find(["a": 1]).count
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
        for manager in managers { try manager.closeDatastore(named: "store") }
        let again = try managers[0].datastore(named: "store")
        #expect(try again.listIndexes().map(\.name) == ["by_a", "by_b_0", "by_b_1"])
        try managers[0].closeDatastore(named: "store")
      }
    }
  }

  @Test func `an index that is deleted while the file is replaced stays deleted`() throws {
    try withTemporaryDirectory { directory in
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory) }
      let stores = try managers.map { try $0.datastore(named: "store") }
      try stores[0].createDocument(from: DocumentDraft(id: "a", body: ["a": 1, "b": 2]))
      try stores[0].ensureIndexed(["a"], name: "by_a")
      let isDone = Atomic(false)
      let returned = Gathered<String>()
      let other = try stores[1].indexManager()
      onThreads(2) { number in
        if number == 0 {
          defer { isDone.store(true, ordering: .releasing) }
          for _ in 0..<150 {
            // It may fail where the file is replaced more than once at a time.
            guard (try? stores[0].ensureIndexed(["b"], name: "by_b")) != nil,
              (try? stores[0].deleteIndex(named: "by_b")) != nil,
              let names = try? stores[0].listIndexes().map(\.name)
            else { continue }
            if names.contains("by_b") { returned.append("by_b") }
          }
        } else {
          while !isDone.load(ordering: .acquiring) {
            try? other.recovery.replaceFile(FileIdentity(other.path), for: stores[1])
            Sleep.microseconds(3_000)
          }
        }
      }
      #expect(returned.all == [])
    }
  }

  @Test func `a check finds nothing while another manager creates and deletes an index`() throws {
    try withTemporaryDirectory { directory in
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory) }
      let stores = try managers.map { try $0.datastore(named: "store") }
      try stores[0].createDocument(from: DocumentDraft(id: "a", body: ["a": 1, "b": 2]))
      try stores[0].ensureIndexed(["a"], name: "by_a")
      let problems = Gathered<String>()
      let isDone = Atomic(false)
      onThreads(2) { number in
        do {
          if number == 0 {
            for _ in 0..<200 { for finding in try stores[0].checkIndexes() { problems.append("\(finding)") } }
            isDone.store(true, ordering: .releasing)
          } else {
            while !isDone.load(ordering: .acquiring) {
              try stores[1].ensureIndexed(["b"], name: "by_b")
              try stores[1].deleteIndex(named: "by_b")
            }
          }
        } catch {
          problems.append("\(error)")
          isDone.store(true, ordering: .releasing)
        }
      }
      #expect(problems.all == [])
      for manager in managers { try manager.closeDatastore(named: "store") }
    }
  }

  @Test func `managers that find the file damaged at once agree on a new one`() throws {
    for _ in 0..<10 {
      try withTemporaryDirectory { directory in
        let managers = try (0..<4).map { _ in try DatastoreManager(directory: directory) }
        let first = try managers[0].datastore(named: "store")
        try first.createDocument(from: DocumentDraft(id: "a", body: ["a": 1]))
        try first.ensureIndexed(["a"], name: "by_a")
        try managers[0].closeDatastore(named: "store")
        let file = "\(directory)/store/extensions/com.cloudant.sync.query/indexes.sqlite"
        try Data(repeating: 7, count: 8_192).write(to: URL(filePath: file))
        let stores = try managers.map { try $0.datastore(named: "store") }
        let failures = Mutex<[String]>([])
        onThreads(stores.count) { number in
          do {
            if number % 2 == 0 { try stores[number].updateIndexes() }
            let names = try stores[number].listIndexes().map(\.name)
            if names != ["by_a"] { failures.withLock { $0.append("\(names)") } }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
        #expect(failures.withLock { $0 } == [])
        for store in stores { #expect(try store.find(["a": 1]).map(\.id) == ["a"]) }
        for manager in managers { try manager.closeDatastore(named: "store") }
      }
    }
  }
}
