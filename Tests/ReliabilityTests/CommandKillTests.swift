import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery
import CDTTestSupport
import CDTWorkloads
import Foundation
import Glibc
import Testing

/// Every command of `cdtquery` that writes may be killed before any change that it makes.
@Suite(.timeLimit(.minutes(120))) struct CommandKillTests {
  /// A command, and the store that it is run on. A new command that writes gets a line in ``all``.
  struct Command: Sendable {
    /// `STORE`, `TARGET` and `FILES` stand for the store, the one of the name `target`, and a directory with files.
    let arguments: [String]
    /// Whether a crash leaves all of it or nothing.
    var isAtomic = true
    /// The name of the store that it writes to, if that is not `STORE`.
    var target = Session.name
    /// The fixture of an earlier version that the store is, instead of one with documents and indexes.
    var fixture: String?
    /// Whether the store is encrypted.
    var isEncrypted = false

    /// Whether the index file is made again.
    var remakesIndexFile: Bool { fixture != nil || arguments[0] == "rekey" }

    init(
      _ arguments: String..., isAtomic: Bool = true, target: String = Session.name, fixture: String? = nil,
      isEncrypted: Bool = false
    ) {
      self.isEncrypted = isEncrypted
      self.arguments = arguments
      self.target = target
      self.isAtomic = isAtomic
      self.fixture = fixture
    }

    static let all =
      [
        Command("put", "STORE", "new", #"{"n":7,"kind":"red","tags":["blue"],"text":"a new word"}"#),
        Command("delete", "STORE", "d1"),
        Command("resolve", "STORE", "conflict", "--merge", #"{"n":3}"#),
        Command("attachment", "put", "STORE", "d2", "FILES/content"),
        Command("attachment", "delete", "STORE", "d0", "a0"),
        Command(
          "import", "STORE", "FILES/lines.jsonl", "--on-conflict", "replace", "--batch", "3", isAtomic: false),
        Command(
          "import", "STORE", "FILES/lines.csv", "--format", "csv", "--id", "id", "--on-conflict", "skip",
          "--batch", "2", isAtomic: false),
        Command("import", "STORE", "--from-touchdb", "FILES/tasks.touchdb", "--batch", "3", isAtomic: false),
        Command("index", "create", "STORE", "more", "n", "--name", "more"),
        Command("index", "delete", "STORE", "by_n"),
        Command("index", "rebuild", "STORE"),
        Command("index", "update", "STORE"),
        Command("compact", "STORE"),
        Command("check", "STORE", "--repair"),
        Command("drop", "STORE", "--yes"),
        Command("recover", "STORE", "TARGET", target: "saved"),
        Command("rekey", "STORE", "--new-key-file", "FILES/key"),
        Command("rekey", "STORE", "--key-file", "FILES/key", isEncrypted: true),
        Command("rekey", "STORE", "--key-file", "FILES/key", "--no-key", isEncrypted: true),
      ] + fixtures.map { Command("compact", "STORE", fixture: $0) }
  }

  // MARK: What commands work on

  private static func makeFiles(_ directory: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let lines = (0..<9).map { #"{"_id":"\#($0 < 4 ? "d" : "line")\#($0)","n":\#($0),"kind":"red"}"# }
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: "\(directory)/lines.jsonl"))
    let table = (0..<9).map { "row\($0),\($0)" }
    try Data((["id,n"] + table).joined(separator: "\n").utf8).write(
      to: URL(filePath: "\(directory)/lines.csv"))
    try Data(String(repeating: "content ", count: 2_000).utf8).write(
      to: URL(filePath: "\(directory)/content"))
    if case .key(let key) = Session.key { try Data(key).write(to: URL(filePath: "\(directory)/key")) }
    // With its attachments and indexes beside it.
    let source = URL(filePath: TouchDBFixture.path).deletingLastPathComponent()
    for name in try FileManager.default.contentsOfDirectory(atPath: source.path) where name.hasPrefix("tasks")
    {
      try FileManager.default.copyItem(
        atPath: source.appending(path: name).path, toPath: "\(directory)/\(name)")
    }
  }

  private static func makeStore(_ directory: String, _ command: Command) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    if let fixture = command.fixture { return try copyFixture(fixture, to: directory) }
    let session = try Session(
      directory, options: DatastoreOptions(encryption: command.isEncrypted ? Session.key : nil))
    let store = session.store
    for number in 0..<12 {
      let body: JSONObject = ["n": .int(Int64(number)), "kind": "red", "tags": ["blue"], "text": "a word"]
      let attachment = DocumentAttachment(
        data: Data(String(repeating: "\(number)", count: 3_000).utf8), name: "a0", contentType: "text/plain")
      try store.createDocument(
        from: DocumentDraft(id: "d\(number)", body: body, attachments: number < 3 ? [attachment] : []))
    }
    for number in 4..<8 { try store.updateDocument(withID: "d\(number)") { $0.body["n"] = 50 } }
    try store.createDocument(from: DocumentDraft(id: "conflict", body: ["n": 1]))
    try store.write {
      try $0.forceInsert(
        DocumentRevision(
          id: "conflict", revisionID: RevisionID(generation: 1, suffix: String(repeating: "0", count: 32)),
          body: ["n": 2]))
    }
    try store.ensureIndexed(["n"], name: "by_n")
    try store.ensureIndexed(["kind", .descending("n")], name: "by_kind")
    try store.ensureIndexed(["text"], .text, name: "words")
    try session.close()
  }

  /// What a command is run on, and what comes of it when nothing happens.
  private struct Prepared {
    let command: Command
    let directory: String
    let before: StoreModel
    let after: StoreModel
    /// The number of changes that it makes.
    let changes: Int

    var template: String { "\(directory)/template" }
    var stores: String { "\(directory)/stores" }

    func arguments() -> [String] {
      command.arguments.map {
        $0.replacing("STORE", with: "\(stores)/\(Session.name)")
          .replacing("TARGET", with: "\(stores)/\(command.target)")
          .replacing("FILES", with: "\(directory)/../files")
      }
    }
  }

  private static func read(_ directory: String, _ command: Command) throws -> StoreModel {
    let session = try Session(directory, name: command.target)
    defer { try? session.close() }
    return try StoreModel(reading: session.store)
  }

  private static func run(_ arguments: [String], _ faults: BuiltProgram.Faults? = nil) throws -> Int32 {
    try BuiltProgram("cdtquery", arguments, faults: faults, hidesErrors: true).end().status
  }

  private static func prepare(_ command: Command, in directory: String) throws -> Prepared {
    let prepared = Prepared(
      command: command, directory: directory, before: StoreModel(), after: StoreModel(), changes: 0)
    try makeStore(prepared.template, command)
    let copy = "\(directory)/copy"
    try FileManager.default.copyItem(atPath: prepared.template, toPath: copy)
    let before = try read(copy, command)
    try FileManager.default.copyItem(atPath: prepared.template, toPath: prepared.stores)
    let trace = "\(directory)/trace"
    let status = try run(prepared.arguments(), .init(directory: prepared.stores, trace: trace))
    #expect(status == 0, "\(command.arguments)")
    let changes = try Trace.read(trace, below: prepared.stores).count { change in
      if case .sync = change { false } else { true }
    }
    let after = try read(prepared.stores, command)
    return Prepared(command: command, directory: directory, before: before, after: after, changes: changes)
  }

  // MARK: Killing

  @Test func `a killed command has done all or nothing, and can be run again`() throws {
    let count = Torture.kills / 2
    var random = SeededGenerator(seed: Torture.seed)
    try withTemporaryDirectory(inMemory: true) { scratch in
      try Self.makeFiles("\(scratch)/files")
      var prepared: [Int: Prepared] = [:]
      // Each in its turn, and in `make test-more` others than those that begin the list, too.
      let first = Int.random(in: 0..<Command.all.count, using: &random)
      for number in 0..<count {
        let position = (first + number) % Command.all.count
        let use =
          try prepared[position]
          ?? Self.prepare(Command.all[position], in: "\(scratch)/\(position)")
        prepared[position] = use
        let change = Int.random(in: 1...max(1, use.changes), using: &random)
        let problems = try Self.problems(with: use, killedAt: change)
        #expect(
          problems == [], "seed \(Torture.seed), kill \(number), change \(change), \(use.command.arguments)")
        if number % 25 == 24 { Torture.progress("\(number + 1) of \(count) commands killed") }
      }
    }
  }

  /// After the first kill of a run there are others: each time it goes on until a later change.
  @Test(arguments: Command.all.filter { $0.arguments[0] == "rekey" })
  func `a killed rekey leaves the store in one of its forms, and the next run finishes`(_ command: Command)
    throws
  {
    try withTemporaryDirectory(inMemory: true) { scratch in
      try Self.makeFiles("\(scratch)/files")
      let use = try Self.prepare(command, in: "\(scratch)/command")
      for change in stride(from: 1, through: use.changes, by: max(1, use.changes / Torture.kills)) {
        #expect(try Self.problems(with: use, killedAt: change) == [], "change \(change)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: use.stores) == [Session.name])
      }
      try FileManager.default.removeItem(atPath: use.stores)
      try FileManager.default.copyItem(atPath: use.template, toPath: use.stores)
      for change in stride(from: 5, through: use.changes, by: max(5, use.changes / Torture.kills)) {
        let status = try Self.run(
          use.arguments(), .init(directory: use.stores, killedAtChange: change))
        #expect(status == -SIGKILL || status == 0)
      }
      #expect(try Self.run(use.arguments()) == 0)
      #expect(try Self.read(use.stores, command) == use.after)
      #expect(try FileManager.default.contentsOfDirectory(atPath: use.stores) == [Session.name])
    }
  }

  private static func problems(with use: Prepared, killedAt change: Int) throws -> [String] {
    try? FileManager.default.removeItem(atPath: use.stores)
    try FileManager.default.copyItem(atPath: use.template, toPath: use.stores)
    // It may make fewer changes than the first time, as threads of it do some of them.
    let killed = try run(use.arguments(), .init(directory: use.stores, killedAtChange: change))
    guard killed == -SIGKILL || killed == 0 else { return ["before it was killed it ended with \(killed)"] }
    let copy = "\(use.directory)/copy"
    try? FileManager.default.removeItem(atPath: copy)
    try FileManager.default.copyItem(atPath: use.stores, toPath: copy)
    var isUndone = false
    var problems = problemsAfterCrash(
      in: copy, named: use.command.target, isIndexFileOld: use.command.remakesIndexFile
    ) { found in
      isUndone = found == use.before
      let isWhole = isUndone || found == use.after
      let isBetween = !use.command.isAtomic && found.isBetween(use.before, use.after)
      if isWhole || isBetween { return nil }
      return "killed before change \(change): \(found.difference(from: use.before))"
    }
    if isUndone || !use.command.isAtomic {
      let status = try run(use.arguments())
      if status != 0 { problems.append("killed before change \(change), it can't be run again: \(status)") }
      let found = try read(use.stores, use.command)
      if found != use.after { problems.append("run again: \(found.difference(from: use.after))") }
    }
    return problems
  }

  /// An export changes no store, and its file takes its place when it is complete.
  @Test(arguments: [false, true])
  func `a killed export leaves the store and the former file, or the whole export`(exists: Bool) throws {
    try withTemporaryDirectory(inMemory: true) { scratch in
      let (stores, exports) = ("\(scratch)/stores", "\(scratch)/exports")
      try Self.makeStore(stores, Command("export", "STORE"))
      try FileManager.default.createDirectory(atPath: exports, withIntermediateDirectories: true)
      let file = URL(filePath: "\(exports)/all.jsonl")
      let arguments = ["export", "\(stores)/\(Session.name)", file.path, "--attachments"]
      #expect(try Self.run(arguments) == 0)
      let whole = try Data(contentsOf: file)
      let former = exists ? Data("former\n".utf8) : nil
      let model = try Self.read(stores, Command())
      // The last one is killed by its own end.
      var (change, ended) = (0, false)
      while !ended {
        change += 1
        try? FileManager.default.removeItem(at: file)
        try former?.write(to: file)
        let status = try Self.run(arguments, .init(directory: scratch, killedAtChange: change))
        #expect(status == -SIGKILL || status == 0)
        ended = status == 0
        let found = try? Data(contentsOf: file)
        #expect(found == whole || found == former, "killed before change \(change)")
        #expect(!ended || found == whole)
        #expect(try Self.read(stores, Command()) == model, "killed before change \(change)")
      }
      #expect(change > 1)
      // At any time, with a signal.
      for delay in 1...Torture.kills {
        try? FileManager.default.removeItem(at: file)
        try former?.write(to: file)
        let program = try BuiltProgram("cdtquery", arguments, hidesErrors: true)
        usleep(UInt32(delay) * 2_000)
        _ = program.kill()
        let found = try? Data(contentsOf: file)
        #expect(found == whole || found == former, "killed after \(delay * 2) ms")
      }
      #expect(problemsAfterCrash(in: stores) { $0 == model ? nil : $0.difference(from: model) } == [])
    }
  }
}
