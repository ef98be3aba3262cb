import ArgumentParser
import CSQLiteYardstick

struct DecisionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decisions",
    abstract: "Measure the alternatives of docs/decisions.")

  @Option(help: "The number of the decision. (default: all)")
  var only: Int?
  @Option(help: "How many documents a store has for pages, partial indexes, summaries, changes and places.")
  var documents = 1_000_000
  @Option(help: "The release build of cdtquery.")
  var server = ".build/release/cdtquery"
  @Option(help: "Where the files lie meanwhile.")
  var directory = "Benchmarks/data"

  func validate() throws {
    guard documents >= 100_000 else { throw ValidationError("--documents must be at least 100000") }
  }

  func run() throws {
    let scratch = try Scratch(directory)
    defer { try? scratch.remove() }
    let experiments: [(decision: Int, measure: () throws -> MarkdownTable)] = [
      (2, { try ReadingDocuments(scratch).measure() }), (3, { try InsertingRows(scratch).measure() }),
      (3, { try BuildingIndex(scratch).measure() }), (26, { try Encrypting(scratch).measure() }),
      (27, { try GroupingDocuments(scratch).measure() }),
      (2, { try ReadingPages(scratch, documents: documents).measure() }),
      (28, { try PartialIndexes(scratch, documents: documents).measure() }),
      (29, { try KeepingSummaries(scratch, documents: documents).measure() }),
      (30, { try DeletingExpired(scratch).measure() }),
      (37, { try IncludingDocuments(scratch).measure() }),
      (44, { try FindingPlaces(scratch, documents: documents).measure() }),
      (33, { try SelectingChanges(scratch, documents: documents, program: Program(server)).measure() }),
    ]
    for experiment in experiments where only == nil || only == experiment.decision {
      let table = try experiment.measure()
      print("\(table.title)\n\n\(table.text)\n")
    }
  }
}

/// A file of SQLite's for one experiment.
final class ExperimentFile {
  private let connection: OpaquePointer

  init(_ path: String) throws {
    var opened: OpaquePointer?
    guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else {
      throw BenchError("\(path) can't be opened")
    }
    connection = opened
    try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -48000")
  }

  deinit {
    sqlite3_close_v2(connection)
  }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw BenchError.sqlite(connection, sql)
    }
  }

  func statement(_ sql: String) throws -> ExperimentStatement {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(connection, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else {
      throw BenchError.sqlite(connection, sql)
    }
    return ExperimentStatement(prepared)
  }
}

/// A statement of an experiment. Parameters are numbered from 1, columns from 0.
final class ExperimentStatement {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) {
    self.handle = handle
  }

  deinit {
    sqlite3_finalize(handle)
  }

  func bind(_ values: [Int], from first: Int = 1) {
    for (offset, value) in values.enumerated() {
      sqlite3_bind_int64(handle, Int32(first + offset), Int64(value))
    }
  }

  func step() -> Bool { sqlite3_step(handle) == SQLITE_ROW }
  func reset() { sqlite3_reset(handle) }
  func number(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }
  func size(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }

  func run() {
    _ = step()
    reset()
  }
}
