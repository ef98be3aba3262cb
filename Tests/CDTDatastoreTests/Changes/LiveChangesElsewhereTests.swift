import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTDatastore

/// Writes that this process, or this manager, did not make.
@Suite(.timeLimit(.usual)) struct LiveChangesElsewhereTests {
  /// Counts the looks of a watch that has no events to go by, one every half second.
  private static func waitForLooks(_ count: Int) async throws {
    let (looks, made) = AsyncStream<Void>.makeStream()
    let watch = try DirectoryWatch("/nowhere/\(UUID().uuidString)") { made.yield() }
    #expect(!watch.isEventDriven)
    var left = count
    for await _ in looks {
      left -= 1
      if left == 0 { break }
    }
    watch.end()
  }

  @Test func `another process is heard, and the file is not looked at before`() async throws {
    try await withListenedStore { manager, store in
      try await store.createDocument(from: DocumentDraft(id: "ours", body: [:]))
      var changes = store.liveChanges().makeAsyncIterator()
      #expect(try await changes.next()?.documents.map(\.id) == ["ours"])
      if store.changeListeners.watch?.isEventDriven == true {
        try await Self.waitForLooks(3)
        #expect(store.changeListeners.watch?.looks == 0)
      } else {
        print("not shown that nothing is looked at without an event: the system has no watches left")
      }
      for id in ["theirs", "theirs too"] {
        let program = try BuiltProgram("cdtquery", ["put", "\(manager.directory)/store", id, "{}"])
        #expect(try await changes.next()?.documents.map(\.id) == [id])
        #expect(try await program.ended().status == 0)
      }
      #expect((store.changeListeners.watch?.looks ?? 0) > 0)
    }
  }

  @Test func `another manager is heard`() async throws {
    try await withListenedStore { manager, store in
      let other = try DatastoreManager(directory: manager.directory)
      var changes = store.liveChanges().makeAsyncIterator()
      for number in 0..<20 {
        // Opened and closed each time, so that logs come and go.
        try await other.datastore(named: "store").createDocument(
          from: DocumentDraft(id: "\(number)", body: [:]))
        try await other.closeDatastore(named: "store")
        #expect(try await changes.next()?.documents.map(\.id) == ["\(number)"])
      }
    }
  }

  @Test func `a busy writer elsewhere is heard whole`() async throws {
    try await withListenedStore { manager, store in
      let other = try DatastoreManager(directory: manager.directory)
      let theirs = try await other.datastore(named: "store")
      let listeners = (0..<3).map { _ in Task { try await store.heard(until: "499") } }
      await onThreads(1) { _ in
        for number in 0..<500 {
          _ = try? theirs.createDocument(from: DocumentDraft(id: "\(number)", body: [:]))
        }
      }
      for listener in listeners {
        #expect(try await listener.value.changes.map(\.id) == (0..<500).map(String.init))
      }
    }
  }

  @Test func `200 listeners who came and went leave no file and no thread`() async {
    await #expect(processExitsWith: .success) {
      try await withListenedStore { manager, store in
        try await store.createDocument(from: DocumentDraft(id: "first", body: [:]))
        #expect(try await store.heard(until: "first").changes.count == 1)
        let threads = entries(of: "/proc/self/task").count
        // Each alone, so each with a watch of its own, and then several together.
        for _ in 0..<200 { _ = try await store.heard(until: "first") }
        for round in 0..<20 {
          let tasks = (0..<10).map { _ in Task { try await store.heard(until: "\(round)") } }
          for task in tasks[5...] { task.cancel() }
          try await store.createDocument(from: DocumentDraft(id: "\(round)", body: [:]))
          for task in tasks { _ = try await task.value }
        }
        #expect(store.changeListeners.count == 0)
        await untilTrue { watches() == 0 }
        // A thread ends after its watch, and those of Dispatch's pool come and go as well.
        await untilTrue { entries(of: "/proc/self/task").count < threads + 40 }

        var changes = store.liveChanges().makeAsyncIterator()
        _ = try await changes.next()
        #expect(watches() == 1)
        try await manager.closeDatastore(named: "store")
        await untilTrue { watches() == 0 }
      }
    }
  }

  @Test func `the file is polled where the system reports no writes`() async {
    await #expect(processExitsWith: .success) {
      try await withListenedStore { manager, store in
        let other = try DatastoreManager(directory: manager.directory)
        let theirs = try await other.datastore(named: "store")
        try await theirs.createDocument(from: DocumentDraft(id: "a", body: [:]))
        #expect(try await store.changes().documents.count == 1)
        // From now on no file can be opened, so there are no events either.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let usual = limit.rlim_cur
        limit.rlim_cur = 3
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let heard = Task { try await store.heard(until: "b") }
        await untilTrue { (store.changeListeners.watch?.looks ?? 0) > 0 }
        #expect(store.changeListeners.watch?.isEventDriven == false)
        try await theirs.createDocument(from: DocumentDraft(id: "b", body: [:]))
        #expect(try await heard.value.changes.map(\.id) == ["a", "b"])
        // What looks for leaks at the end of a process opens files as well.
        limit.rlim_cur = usual
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      }
    }
  }
}

private func entries(of directory: String) -> [String] {
  (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
}

/// How many watches on files this process has.
private func watches() -> Int {
  entries(of: "/proc/self/fd").count { descriptor in
    let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    return file?.contains("inotify") ?? false
  }
}

/// Waits for what comes soon, and would hang a test in which it does not come.
private func untilTrue(_ condition: () -> Bool, isolation: isolated (any Actor)? = #isolation) async {
  while !condition() { await Task.yield() }
}
