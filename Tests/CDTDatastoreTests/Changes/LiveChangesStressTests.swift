import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTDatastore

@Suite(.timeLimit(.usual)) struct LiveChangesStressTests {
  private static let writers = 4
  private static let writes = 250

  /// How far the threads that write are.
  ///
  /// Listeners wait for it in place of a number of turns: among all the tests of a busy machine, a turn may take a second.
  private final class Progress: Sendable {
    private let count = Atomic(0)

    func advance() { count.add(1, ordering: .relaxed) }
    func end() { count.store(.max, ordering: .relaxed) }

    /// Waits until `more` documents were written, or the last one.
    func wait(for more: Int) async {
      let now = count.load(ordering: .relaxed)
      while now < .max, count.load(ordering: .relaxed) - now < more { await Task.yield() }
    }
  }

  /// Has several threads write: documents of their own, each written once, and some that all of them change.
  private static func write(to store: Datastore, _ progress: Progress) async throws {
    defer { progress.end() }
    for number in 0..<10 {
      try await store.createDocument(from: DocumentDraft(id: "shared-\(number)", body: [:]))
    }
    let errors = Errors()
    await onThreads(writers) { writer in
      do {
        for number in 0..<writes {
          try store.createDocument(from: DocumentDraft(id: "\(writer)-\(number)", body: [:]))
          try store.updateDocument(withID: "shared-\(number % 10)") { shared in
            shared.body["\(writer)"] = .int(Int64(number))
          }
          progress.advance()
        }
      } catch {
        errors.append("\(error)")
      }
    }
    #expect(errors.all == [])
    try await store.createDocument(from: DocumentDraft(id: "end", body: [:]))
  }

  private final class Errors: Sendable {
    private let errors = Mutex<[String]>([])
    func append(_ error: String) { errors.withLock { $0.append(error) } }
    var all: [String] { errors.withLock { $0 } }
  }

  /// Everything that was ever written once is there once, in order, and the end agrees with the store.
  private static func check(_ heard: Heard, in store: Datastore) throws {
    #expect(heard.isRising)
    let expected = try store.changes()
    #expect(heard.newest == expected.documents)
    #expect(heard.lastSequence == expected.lastSequence)
    let once = heard.changes.filter { !$0.id.hasPrefix("shared") }
    #expect(once.count == writers * writes + 1)
    #expect(Set(once.map(\.id)).count == once.count)
  }

  @Test func `listeners of every pace miss nothing, and hear nothing twice`() async throws {
    try await withListenedStore { _, store in
      let progress = Progress()
      let listeners = (0..<6).map { pace in
        Task { try await store.heard(until: "end") { await progress.wait(for: pace * pace * 10) } }
      }
      try await Self.write(to: store, progress)
      for listener in listeners { try Self.check(try await listener.value, in: store) }
    }
  }

  @Test func `listeners cancelled at any moment go on where they were`() async throws {
    try await withListenedStore { _, store in
      let (progress, seed) = (Progress(), testSeed(4))
      let listeners = (0..<4).map { number in
        Task {
          var random = SeededGenerator(seed: seed &+ UInt64(number))
          var heard = Heard()
          while !heard.contains("end") {
            let last = heard.lastSequence
            let more = Int.random(in: 0..<20, using: &random)
            let turns = Int.random(in: 0..<20, using: &random)
            let task = Task { try await store.heard(since: last, until: "end") }
            await progress.wait(for: more)
            for _ in 0..<turns { await Task.yield() }
            task.cancel()
            let part = try await task.value
            heard.append(Changes(documents: part.changes, lastSequence: part.lastSequence))
          }
          return heard
        }
      }
      try await Self.write(to: store, progress)
      for listener in listeners {
        let heard = try await listener.value
        try Self.check(heard, in: store)
        #expect(heard.isRising, "seed \(seed)")
      }
      #expect(store.changeListeners.count == 0)
    }
  }

  @Test func `nothing piles up for a listener who is away during 20,000 writes`() async throws {
    try await withListenedStore { _, store in
      for number in 0..<50 {
        try await store.createDocument(from: DocumentDraft(id: "\(number)", body: [:]))
      }
      var changes = store.liveChanges().makeAsyncIterator()
      #expect(try await changes.next()?.documents.count == 50)
      let errors = Errors()
      await onThreads(1) { _ in
        do {
          for number in 0..<20_000 {
            try store.updateDocument(withID: "\(number % 50)") { $0.body = ["n": .int(Int64(number))] }
          }
        } catch {
          errors.append("\(error)")
        }
      }
      #expect(errors.all == [])
      let (looks, expected) = (store.changeListeners.watch?.looks ?? 0, try await store.changes())
      // What waits for the listener is in the file: each document once, as it is now.
      #expect(try await changes.next() == expected)
      #expect(expected.documents.count == 50)
      #expect(expected.lastSequence == 20_050)
      // Events come by the thousand, and are answered together.
      #expect(looks < 10_000)
    }
  }
}
