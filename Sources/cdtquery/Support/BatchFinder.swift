import CDTDatastore
import CDTQuery
@preconcurrency import Glibc
import JSON

/// Answers requests, one a line, with one result a line, in order, each written out before the next is read.
struct BatchFinder {
  private let datastore: Datastore

  init(_ datastore: Datastore) {
    self.datastore = datastore
  }

  func run(_ file: String) throws {
    let descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw ToolError(.io, "can't read \(file): \(String(cString: strerror(errno))); check the path")
    }
    var reader = LineReader(descriptor: descriptor, name: file)
    while let line = try reader.next() {
      if line.allSatisfy(\.isWhitespace) { continue }
      try answer(line).withUnsafeBytes { try Output.standard.line($0) }
      try Output.standard.flush()
    }
  }

  private func answer(_ line: String) -> [UInt8] {
    do {
      var result = Array("{\"docs\":[".utf8)
      let start = result.count
      try datastore.find(try Query(parsing: line)).forEachJSON { document in
        if result.count > start { result.append(UInt8(ascii: ",")) }
        result.append(contentsOf: document)
      }
      return result + Array("]}".utf8)
    } catch {
      return Array(Self.failure(error).text.utf8)
    }
  }

  private static func failure(_ error: any Error) -> JSONObject {
    switch error {
    case let error as QueryError:
      [
        "error": .string(error.code.description), "reason": .string(error.message),
        "path": .string(error.path),
      ]
    case let error as DatastoreError:
      ["error": .string(error.code.description), "reason": .string(error.message), "path": ""]
    default:
      ["error": "failed", "reason": .string("\(error)"), "path": ""]
    }
  }
}
