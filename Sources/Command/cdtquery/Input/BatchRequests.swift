import CDTDatastore
import CDTJSON
import CDTQuery

/// The requests of `find --batch`: one on each line that is not blank.
struct BatchRequests {
  private var reader: InputLines

  /// - Parameter file: A path; `-` is standard input.
  init(_ file: String) throws(ToolError) {
    reader = file == "-" ? .standardInput : try InputLines(opening: file)
  }

  /// The next request; `nil` after the last one.
  mutating func next() throws -> BatchRequest? {
    while let line = try reader.next() {
      if line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { continue }
      return BatchRequest(line: line)
    }
    return nil
  }
}

struct BatchRequest {
  fileprivate let line: [UInt8]

  func query() throws -> Query {
    guard let text = String(validating: line, as: UTF8.self) else {
      throw ToolError(.data, "the line is not UTF-8; convert it to UTF-8")
    }
    return try Query(parsing: text)
  }
}

/// The answer to a request of `find --batch`: one line of JSON.
struct BatchAnswer {
  private var text: [UInt8]
  private var end: String

  /// An answer without documents.
  init() {
    text = Array("{\"docs\":[".utf8)
    end = "]}"
  }

  /// The answer to a request that failed.
  init(_ error: any Error) {
    text = Self.failure(error).utf8Text
    end = ""
  }

  /// Whether there is no document in it.
  var isEmpty: Bool { text.last == UInt8(ascii: "[") }

  /// Adds the JSON of a document.
  mutating func append(_ document: some Sequence<UInt8>) {
    // The text of a document ends with a brace.
    if text.last != UInt8(ascii: "[") { text.append(UInt8(ascii: ",")) }
    text += document
  }

  /// Adds the documents that the results link, unless there are none to include.
  mutating func append(included: JSONObject) {
    if !included.isEmpty { end = "],\"included\":\(included.text)}" }
  }

  /// Prints the answer at once, so that it can be read before the next request is written.
  func print() throws {
    try (text + Array(end.utf8)).withUnsafeBytes { try Output.standard.line($0) }
    try Output.standard.flush()
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
    case let error as any ReportedError:
      ["error": .string(name(of: error.exitStatus)), "reason": .string(ErrorText.of(error)), "path": ""]
    default:
      ["error": "failed", "reason": .string(ErrorText.of(error)), "path": ""]
    }
  }

  private static func name(of status: ExitStatus) -> String {
    switch status {
    case .missing: "notFound"
    case .busy: "unreachable"
    case .notAuthorized: "unauthorized"
    default: "invalidRequest"
    }
  }
}
