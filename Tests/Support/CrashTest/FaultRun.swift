import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery
import CDTTestSupport
import CDTWorkloads
import Foundation

/// Makes the n-th call of each kind fail in each operation, and checks what comes of it: the operation has its right answer, or
/// throws an error that says what happened; nothing is lost; the next attempt works; no file stays open.
struct FaultRun {
  private let directory: String
  private var random: SeededGenerator
  /// The number of calls of each kind that are tried in each operation; 0 for all.
  private let points: Int
  /// The only kind of calls to fail, and the only call of it, to repeat what was reported; 0 for all.
  private let call: (kind: Faults.Kind, number: Int)?
  private var problems = 0
  private var tried = 0

  private var files: String { "\(directory)/files" }
  private var work: String { "\(directory)/work" }

  private let options: DatastoreOptions

  init(
    directory: String, seed: UInt64, points: Int, _ options: DatastoreOptions,
    call: (kind: Faults.Kind, number: Int)? = nil
  ) throws {
    try Faults.installMalloc()
    self.options = options
    self.directory = directory
    self.points = points
    self.call = call
    random = SeededGenerator(seed: seed)
  }

  /// - Parameter only: The operation to run; `nil` for all.
  mutating func run(only: String?) throws {
    try makeFiles()
    for indexed in [false, true] {
      try makeTemplate(indexed: indexed)
      for operation in Operation.all
      where (operation.fixture == nil || !indexed) && (only.map { $0 == operation.name } ?? true) {
        try run(operation, indexed ? "with indexes" : "without indexes")
      }
    }
    print("tried \(tried), problems \(problems)")
  }

  /// Does every operation while another connection has the datastore open and listens to changes.
  mutating func lookBesideSQLite() throws {
    try makeFiles()
    try makeTemplate(indexed: true)
    for operation in Operation.all where operation.fixture == nil {
      var use = try use(operation)
      let other = try Session(work, options: use.options)
      // Some can't be done to a datastore that is open.
      let result = try withExtendedLifetime(ChangeListener(to: other.store)) {
        Result { try operation.run(&use) }
      }
      try other.close()
      try use.session?.close()
      tried += 1
      if case .success = result { print("did \(operation.name)") }
      if let path = Faults.besideSQLite { print("PROBLEM \(operation.name): \(path)") }
    }
    print("tried \(tried)")
  }

  // MARK: What operations work on

  private func makeFiles() throws {
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    let lines = (0..<8).map { #"{"_id":"\#($0 < 4 ? "d" : "line")\#($0)","n":\#($0),"kind":"red"}"# }
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: "\(files)/lines.jsonl"))
    try Data(String(repeating: "the content of a file ", count: 900).utf8)
      .write(to: URL(filePath: "\(files)/content"))
  }

  private func makeTemplate(indexed: Bool) throws {
    try? FileManager.default.removeItem(atPath: "\(directory)/template")
    try? FileManager.default.removeItem(atPath: work)
    let session = try Session("\(directory)/template", options: options)
    let store = session.store
    let kinds = ["red", "green", "blue"]
    for number in 0..<12 {
      let body: JSONObject = [
        "n": .int(Int64(number)), "kind": .string(kinds[number % 3]),
        "tags": ["blue", .string(kinds[number % 2])],
        "text": "a word or two",
      ]
      try store.createDocument(from: DocumentDraft(id: "d\(number)", body: body))
    }
    for round in 0..<2 {
      try store.updateDocument(withID: "d0") { document in
        document.attachments = [
          DocumentAttachment(
            data: Data(String(repeating: "content \(round) ", count: 800).utf8), name: "a0",
            contentType: "text/plain")
        ]
      }
    }
    try store.deleteDocument(withID: "d11")
    try store.createDocument(from: DocumentDraft(id: "conflict", body: ["n": 1]))
    try store.write {
      try $0.forceInsert(
        DocumentRevision(
          id: "conflict", revisionID: RevisionID(generation: 1, suffix: String(repeating: "0", count: 32)),
          body: ["n": 2]))
    }
    try store.write { try $0.setLocalDocument(["n": 1], withID: "l0") }
    if indexed {
      try store.ensureIndexed(["n"], name: "by_n")
      try store.ensureIndexed(["kind", .descending("n")], name: "by_kind")
      try store.ensureIndexed(["tags"], name: "by_tag")
      try store.ensureIndexed(["text"], .text, name: "words")
    }
    try session.close()
  }

  private func use(_ operation: Operation) throws -> Operation.Use {
    let manager = FileManager.default
    try? manager.removeItem(atPath: work)
    if let fixture = operation.fixture {
      try manager.createDirectory(atPath: "\(work)/\(Session.name)", withIntermediateDirectories: true)
      let source = Repository.root.appending(path: "Tests/CDTDatastoreTests/Storage/Fixtures/\(fixture)").path
      for file in ["db.sync", "extensions"] where manager.fileExists(atPath: "\(source)/\(file)") {
        try manager.copyItem(atPath: "\(source)/\(file)", toPath: "\(work)/\(Session.name)/\(file)")
      }
    } else {
      try manager.copyItem(atPath: "\(directory)/template", toPath: work)
    }
    var use = Operation.Use(directory: work, files: files)
    use.options.memoryBudget = options.memoryBudget
    if operation.fixture == nil { use.options.encryption = options.encryption }
    // A lock that can't be taken is taken for one that is held.
    use.options.busyTimeout = .milliseconds(20)
    if !operation.opens { _ = try use.open() }
    return use
  }

  // MARK: Running

  /// An operation with what comes of it when nothing fails.
  private struct Expectation {
    var answer = ""
    var before = StoreModel()
    var after = StoreModel()
    var calls: [Faults.Kind: Int] = [:]
  }

  private func expectation(_ operation: Operation) throws -> Expectation {
    var expected = Expectation()
    var use = try use(operation)
    if use.session == nil { _ = try use.open() }
    expected.before = try StoreModel(reading: use.store)
    try use.session?.close()
    use = try self.use(operation)
    // Nothing fails, but calls are counted.
    try Faults.arm(.open, call: .max, error: EIO, isLasting: false)
    expected.answer = try operation.run(&use)
    for kind in Faults.Kind.allCases { expected.calls[kind] = Faults.calls(kind) }
    if use.session == nil { _ = try use.open() }
    expected.after = try StoreModel(reading: use.store)
    try use.session?.close()
    return expected
  }

  private static func errors(_ kind: Faults.Kind) -> [Int32] {
    switch kind {
    case .open: [EIO, EMFILE, ENOSPC, EACCES, EPERM]
    case .write: [EIO, ENOSPC, EDQUOT]
    case .sync, .truncate, .mkdir: [EIO, ENOSPC]
    case .shm: [EIO, ENOSPC, ENOMEM]
    case .lock: [EIO, ENOLCK]
    case .delete, .rename: [EIO, EROFS]
    case .stat, .list: [EIO, EACCES]
    case .read, .close, .malloc: [EIO]
    }
  }

  /// Whether calls fail once, or from then on.
  private static func canLast(_ kind: Faults.Kind) -> [Bool] {
    switch kind {
    // SQLite waits ten seconds for locks of shared memory that it can't get.
    case .lock: [false]
    default: [false, true]
    }
  }

  private mutating func run(_ operation: Operation, _ variant: String) throws {
    let expected = try expectation(operation)
    let allocations = expected.calls[.malloc] ?? 0
    let calls = expected.calls.values.reduce(0, +) - allocations
    let before = tried
    defer {
      print(
        "\(operation.name), \(variant): \(calls) calls, \(allocations) allocations, \(tried - before) failed")
    }
    for kind in Faults.Kind.allCases where call == nil || call?.kind == kind {
      let errors = Self.errors(kind)
      if let call, call.number > 0 {
        for error in errors {
          for isLasting in kind == .malloc ? [false] : Self.canLast(kind) {
            let fault = Fault(kind: kind, call: call.number, error: error, isLasting: isLasting)
            _ = try attempt(operation, expected, fault)
          }
        }
      } else if points == 0 {
        for error in errors {
          for isLasting in kind == .malloc ? [false] : Self.canLast(kind) {
            var call = 1
            while try attempt(
              operation, expected, Fault(kind: kind, call: call, error: error, isLasting: isLasting))
            {
              call += 1
            }
          }
        }
      } else if let count = expected.calls[kind], count > 0 {
        for _ in 0..<points {
          let fault = Fault(
            kind: kind, call: .random(in: 1...count, using: &random),
            error: errors.randomElement(using: &random) ?? EIO,
            isLasting: Self.canLast(kind).randomElement(using: &random) ?? false)
          _ = try attempt(operation, expected, fault)
        }
      }
    }
  }

  private struct Fault: CustomStringConvertible {
    let kind: Faults.Kind
    let call: Int
    let error: Int32
    let isLasting: Bool

    var description: String {
      "\(kind) \(call)\(isLasting ? " and later" : ""): \(kind == .malloc ? "no memory" : String(cString: strerror(error)))"
    }
  }

  /// Does an operation while a call fails, and checks.
  ///
  /// - Returns: Whether the call was reached.
  private mutating func attempt(_ operation: Operation, _ expected: Expectation, _ fault: Fault) throws
    -> Bool
  {
    tried += 1
    func report(_ problem: String) {
      problems += 1
      print("PROBLEM \(operation.name), \(fault): \(problem)")
    }
    let open = Self.openFiles()
    var use = try use(operation)
    try Faults.arm(fault.kind, call: fault.call, error: fault.error, isLasting: fault.isLasting)
    let result = Result { try operation.run(&use) }
    let failed = Faults.disarm()
    if case .failure(let error) = result, let problem = Self.problem(with: error, fault) { report(problem) }
    if case .failure(let error) = result, failed == 0 { report("nothing failed, and it throws \(error)") }
    if case .success(let answer) = result, answer != expected.answer,
      !operation.isRightWithFault(answer)
    {
      report("it answers \(answer.prefix(300)) instead of \(expected.answer.prefix(300))")
    }
    do {
      // Where the operation has not opened the datastore, or has closed it.
      if use.session == nil { _ = try use.open() }
      let state = try StoreModel(reading: use.store)
      switch result {
      case .success where state != expected.after:
        report("it returns, and changes \(state.difference(from: expected.after))")
      case .failure where operation.isAtomic && state != expected.before && state != expected.after:
        report("it throws, and changes \(state.difference(from: expected.before))")
      case .failure where !state.isBetween(expected.before, expected.after):
        report("it throws, and changes \(state.difference(from: expected.before))")
      default: break
      }
      if case .failure = result, state == expected.before {
        if operation.opens {
          try use.session?.close()
          use.session = nil
        }
        let answer = try operation.run(&use)
        if answer != expected.answer { report("then it answers \(answer.prefix(300))") }
        if use.session == nil { _ = try use.open() }
        let again = try StoreModel(reading: use.store)
        if again != expected.after { report("then: \(again.difference(from: expected.after))") }
      }
      try use.session?.close()
      _ = try use.open()
      for problem in try StoreCheck.problemsAfterWriting(to: use.store) { report("then \(problem)") }
      try use.session?.close()
    } catch {
      report("then it throws \(error)")
      try? use.session?.close()
    }
    use.session = nil
    // Threads that end close their files shortly after.
    var left = Self.openFiles()
    for _ in 0..<200 {
      if left == open { break }
      usleep(5_000)
      left = Self.openFiles()
    }
    if left != open { report("it leaves open \(left.subtracting(open).sorted())") }
    return failed > 0
  }

  /// The problem with an error; `nil` if it says what happened.
  private static func problem(with error: any Error, _ fault: Fault) -> String? {
    if let error = error as? TouchDBError, error.code == .unreadable { return nil }
    guard let error = error as? DatastoreError else { return "it throws \(type(of: error)): \(error)" }
    // SQLite opens a file again, for reading, if it can't open it for writing.
    if fault.kind == .open, !fault.isLasting, error.message.contains(String(cString: strerror(ENOENT))) {
      return "the file is missing: \(error.message)"
    }
    let isFull = fault.error == ENOSPC || fault.error == EDQUOT
    switch error.code {
    // SQLite takes an error of the disk while reading for damage.
    case .corrupt where fault.kind == .read && fault.error == EIO: return nil
    // SQLite keeps no error of the system for shared memory that can't grow.
    case .full where isFull || fault.kind == .shm,
      .io where (!isFull || fault.kind != .write) && fault.error != EPERM:
      return nil
    case .protected where fault.error == EPERM: return nil
    // SQLite takes every error of a lock but EIO for one that is held.
    case .busy where fault.kind == .lock || fault.kind == .shm: return nil
    default: return "the code is \(error.code): \(error.message)"
    }
  }

  /// The files that are open in this process, by number and name.
  private static func openFiles() -> Set<String> {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    var open: Set<String> = []
    for number in numbers {
      // The list itself was open while it was read, and is gone.
      if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)") {
        open.insert("\(number) \(path)")
      }
    }
    return open
  }
}
