import CDTCommandLine
import CDTDatastore
import CDTJSON
import CDTQuery

/// Answers requests from lines, with one result per line in the same order. Each result is flushed before the next
/// request is read.
///
/// Each request is answered by the store that has the name at that time. If it was deleted, its line is an error; if it
/// was replaced, the new store answers.
struct BatchFinder {
  private let store: StoreArgument
  private let manager: DatastoreManager

  init(_ store: StoreArgument) throws {
    self.store = store
    manager = try store.manager()
    _ = try store.open(manager)
  }

  func run(_ file: String) throws {
    var reader = file == "-" ? LineReader.standardInput : try LineReader(opening: file)
    while let line = try reader.next() {
      if line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { continue }
      try answer(line).withUnsafeBytes { try Output.standard.line($0) }
      try Output.standard.flush()
    }
  }

  private func answer(_ line: [UInt8]) -> [UInt8] {
    do {
      guard let text = String(validating: line, as: UTF8.self) else {
        throw ToolError(.data, "the line is not UTF-8; convert it to UTF-8")
      }
      var result = Array("{\"docs\":[".utf8)
      let start = result.count
      try store.open(manager).results(for: Query(parsing: text)).forEachJSON { document in
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
    case let error as ToolError:
      [
        "error": error.exitStatus == .missing ? "notFound" : "invalidRequest",
        "reason": .string(error.description),
        "path": "",
      ]
    default:
      ["error": "failed", "reason": .string(ErrorText.of(error)), "path": ""]
    }
  }
}
