import CDTImport
import CDTJSON
import CDTPlatform
import CDTQuery

/// A file whose documents a query is answered from, without a store. Each query reads it from its beginning.
struct FileDatabase: QuerySource {
  /// A path; `-` is standard input.
  let path: String
  let options: QueriedFileOptions

  func results(for query: Query) throws -> any QueryResults {
    FileResults(query: FileQuery(query, try reader()))
  }

  func count(_ query: Query) throws -> Int {
    let query = FileQuery(query, try reader())
    return try FileResults.naming { try query.count() }
  }

  func explain(_ query: Query) throws -> (text: String, json: JSONObject) {
    throw ToolError(.usage, "a file has no indexes, so there is no plan: every document is read and checked")
  }

  func write(_ hints: inout QueryHints, about query: Query, foundNothing: Bool) {
    // What comes from a pipe can't be read again.
    guard (try? FileStatus(path).kind) == .file, let reader = try? reader() else { return }
    hints.write(about: query, foundNothing: foundNothing) { query, body in
      try FileQuery(query, reader).forEachJSON(body)
    }
  }

  private func reader() throws -> ImportReader {
    var reader = ImportReader([path])
    try options.file.apply(to: &reader, format: options.inputFormat)
    try FileOptions.checkReadable(path)
    return reader
  }
}

private struct FileResults: QueryResults {
  let query: FileQuery

  func forEachJSON(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
    try Self.naming { try query.forEachJSON(body) }
  }

  func forEachID(_ body: @escaping (String) throws -> Void) throws {
    try Self.naming { try query.forEachID(body) }
  }

  /// Runs `body`, with the format's option in errors named as it is here: `--format` is that of the output.
  static func naming<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as ImportError {
      let message = error.message.replacing("--format ", with: "--input-format ")
      throw ToolError(.data, "\(error)".replacing(error.message, with: message))
    }
  }
}
