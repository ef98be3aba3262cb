import CDTDatastore
import CDTTestSupport
import Foundation
import Glibc
import Testing

/// `cdtquery replicate --config` and its log.
@Suite(.timeLimit(.usual)) struct ReplicationPairsTests {
  private static func makeStore(_ name: String, in directory: String, documents: Int) async throws {
    let manager = try DatastoreManager(directory: "\(directory)/stores")
    let store = try await manager.datastore(named: name)
    for number in 0..<documents {
      try await store.createDocument(from: DocumentDraft(id: "\(name)\(number)", body: [:]))
    }
    try await manager.closeDatastore(named: name)
  }

  private static func count(_ name: String, in directory: String) async throws -> Int {
    // The store would be closed without its manager.
    let manager = try DatastoreManager(directory: "\(directory)/stores")
    let count = try await manager.datastore(named: name).read { try $0.documentCount() }
    try await manager.closeDatastore(named: name)
    return count
  }

  private static func write(_ text: String, to name: String, in directory: String) throws {
    try text.write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
  }

  private static let replicate = #"exec "$0" replicate --config pairs"#

  @Test func `pairs of a file run side by side, and one that fails ends no other`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await Self.makeStore("one", in: directory, documents: 3)
      try await Self.makeStore("two", in: directory, documents: 2)
      try Self.write(
        """
        # a comment
        [first]
        source = stores/one
        target = stores/copy1
        create = true
        selector = {"_id": {"$gt": "one0"}}

        [missing]
        source = stores/none
        target = stores/copy3
        [second]\r
        source=stores/two
        target =  stores/copy2\u{20}
        create = true
        continuous = false
        jobs = 2
        """, to: "pairs", in: directory)
      let run = try CommandRun(Self.replicate, [], in: directory)
      #expect(await run.ended() == 66)
      let errors = try run.text("err")
      #expect(errors.contains("cdtquery: [missing] there is no store stores/none; "), "\(errors)")
      #expect(errors.hasSuffix("cdtquery: 1 of 3 replications failed\n"), "\(errors)")
      #expect(try await Self.count("copy1", in: directory) == 2)
      #expect(try await Self.count("copy2", in: directory) == 2)
      let events = try run.text("out").split(separator: "\n")
      for pair in ["first", "second"] {
        let last = try #require(events.last { $0.hasPrefix(#"{"pair":"\#(pair)","time":""#) })
        #expect(last.contains(#""state":"stopped","behind":0,"lag":"#), "\(last)")
        #expect(last.contains(#""written":2"#) && last.contains(#""end":""#), "\(last)")
      }
    }
  }

  @Test func `a continuous pair that fails goes on when it can, and a signal ends all`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await Self.makeStore("one", in: directory, documents: 1)
      try Self.write(
        """
        [late]
        source = stores/late
        target = stores/copy1
        create = true
        continuous = true
        [steady]
        source = stores/one
        target = stores/copy2
        create = true
        continuous = true
        """, to: "pairs", in: directory)
      let run = try CommandRun("\(Self.replicate) --log-format json", [], in: directory)
      func wait(for part: String) async throws {
        try await eventually("\(part) is printed") {
          try run.text("out").split(separator: "\n").contains { $0.contains(part) }
        }
      }
      try await wait(for: #""state":"idle""#)
      try await wait(for: #""state":"waiting""#)
      try await Self.makeStore("late", in: directory, documents: 4)
      try await eventually("the late pair is idle") {
        try run.text("out").split(separator: "\n").contains {
          $0.hasPrefix(#"{"pair":"late""#) && $0.contains(#""state":"idle""#)
        }
      }
      // It may have been idle between two documents.
      try await eventually("all have arrived") { try await Self.count("copy1", in: directory) >= 4 }
      run.process.send(SIGTERM)
      #expect(await run.ended() == 0)
      let events = try run.text("out").split(separator: "\n")
      for pair in ["late", "steady"] {
        #expect(
          events.contains { $0.hasPrefix(#"{"pair":"\#(pair)""#) && $0.contains(#""state":"stopped""#) })
      }
      let failures = try run.text("err").split(separator: "\n")
      #expect(!failures.isEmpty)
      #expect(
        failures.allSatisfy {
          $0.contains(#""message":"replication failed""#) && $0.contains(#""pair":"late""#)
        }, "\(failures)")
    }
  }

  struct Malformed: Sendable, CustomTestStringConvertible {
    let testDescription, message: String
    var status: Int32 = 65

    init(_ text: String, _ message: String, status: Int32 = 65) {
      (testDescription, self.message, self.status) = (text, message, status)
    }
  }

  static let malformed = [
    Malformed("", "pairs has no section"),
    Malformed("source = a/b", "pairs:1: a replication begins with a section, such as [contacts]"),
    Malformed("[a]\nsource = a/b", "pairs:1: the section [a] needs a source and a target"),
    Malformed("# x\n[a\n", "pairs:2: a section is written as [name]"),
    Malformed("[a]\n\nb\n", "pairs:3: there is no option b"),
    Malformed("[a]\nuser =\n", "pairs:2: the line is not an option"),
    Malformed("[a]\n[b]\n[a]", "pairs:3: the section [a] is there twice"),
    Malformed("[a]\nsource = a/b\nsource = a/b", "pairs:3: source is there twice"),
    Malformed("[a]\ncontinous = true", "pairs:2: there is no option continous; did you mean continuous?"),
    Malformed("[a]\nlog-level = info", "pairs:2: there is no option log-level; there are source, "),
    Malformed("[a]\nboth = yes", "pairs:2: both is either true or false"),
    Malformed("[a]\njobs = many", "pairs:2: The value 'many' is invalid for '--jobs <jobs>'"),
    Malformed("[a]\njobs = 0", "pairs:2: --jobs must be at least 1"),
    Malformed(
      "[a]\nsource = http://a/b\ntarget = http://a/c", "pairs:1: one of SOURCE and TARGET must be a store"),
    Malformed(
      "[a]\nsource = http://a\ntarget = b/c", "pairs:1: this is not the URL of a database", status: 64),
    Malformed("[a]\nsource = a/b\ntarget = b/c\nselector = {", "pairs:1: --selector: "),
    Malformed(
      "[a]\nsource = a/b\ntarget = http://a/c\nuser = ana\npassword-file = none",
      "pairs:1: can't read none: ",
      status: 66),
  ]

  @Test(arguments: malformed) func `a file that is not right is refused with its line`(_ file: Malformed)
    async throws
  {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try Self.write(file.testDescription, to: "pairs", in: directory)
      let run = try CommandRun(Self.replicate, [], in: directory)
      #expect(await run.ended() == file.status)
      let errors = try run.text("err")
      #expect(errors.hasPrefix("cdtquery: \(file.message)"), "\(errors)")
      #expect(try run.text("out") == "")
    }
  }

  @Test func `ends beside a file, and none at all, are bad usage`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      for arguments in [
        "--config pairs a/b c/d", "--config pairs --both", "", "a/b", "a/b c/d --log-level loud",
      ] {
        let run = try CommandRun(#"exec "$0" replicate \#(arguments)"#, [], in: directory)
        #expect(await run.ended() == 64, "\(arguments)")
      }
    }
  }

  @Test func `the log of a run has a line for each batch`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await Self.makeStore("one", in: directory, documents: 2)
      let run = try CommandRun(
        #"exec "$0" replicate stores/one stores/copy --create --log-level info"#, [], in: directory)
      #expect(await run.ended() == 0)
      let lines = try run.text("err").split(separator: "\n")
      #expect(lines.count == 2)
      #expect(lines.first?.contains(" info batch bytes=") == true, "\(lines)")
      #expect(lines.last?.contains(" info end peer=copy pulled=0 pushed=2 ") == true, "\(lines)")
    }
  }
}
