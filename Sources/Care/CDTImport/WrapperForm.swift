import CDTJSON
import CDTPlatform

/// Objects that CouchDB or one of its tools writes around documents, see ``CouchWrapper``.
struct WrapperForm: JSONForm {
  /// Whether the format was given. Then objects without the form are documents, and other members beside the documents are
  /// ignored.
  let isForced: Bool
  /// The first wrapper of the text.
  private(set) var first: CouchWrapper?
  /// Whether each value of the text is one line, as in the files of couchbackup and pouchdb-dump: a line that is cut off ends there.
  private(set) var hasLines = false

  static let cutLine = "the line is cut off; the rest of it is missing, so read the database again"

  func array(in input: InputBuffer) -> JSONContainer? {
    first == nil ? nil : JSONContainer(line: hasLines ? input.line : nil, isOfCouchDB: true)
  }

  func notice(_ file: String) -> ImportNotice? { first.map { .wrapper($0, file) } }

  mutating func take(_ input: inout InputBuffer) throws -> JSONRole? {
    guard let found = try wrapper(&input) else {
      if hasLines, try !input.isValueOnLine() {
        throw RecoverableError(Self.cutLine, at: input, next: .line)
      }
      guard first != nil, !isForced else { return nil }
      throw ImportError(
        "this object does not have the form of the ones before it, which is CouchDB's; give --format json to import every object as it is, or --format couchdb",
        at: input)
    }
    first = first ?? found
    if found == .backupHeader || found == .pouchHeader { hasLines = true }
    guard let name = found.array else {
      try input.skipValue()
      return .other()
    }
    let container = JSONContainer(
      line: hasLines ? input.line : nil, isOfCouchDB: true, depth: 1, wrapper: isForced ? nil : found)
    try input.enterMember(name)
    guard try input.nextByte() == UInt8(ascii: "[") else {
      throw ImportError("expected an array of documents", at: input)
    }
    input.take(1)
    return .other(container)
  }

  /// The wrapper that begins here; `nil` if the object is a document.
  private func wrapper(_ input: inout InputBuffer) throws -> CouchWrapper? {
    var end: Int
    repeat {
      end = input.withBytes { JSONBytes($0).endOfValue(at: 0) }
      if end < input.available || input.available >= InputBuffer.longestProbe { break }
      // The first names decide in most cases.
      if input.available >= 4_096, input.withBytes(nil, { CouchWrapper.isExcluded($0) }) { return nil }
    } while try input.fillMore()
    if hasLines {
      end =
        input.withBytes { Bytes.firstIndex(of: UInt8(ascii: "\n"), in: $0, from: 0, to: min(end, $0.count)) }
        ?? end
    }
    let isWhole = end <= InputBuffer.longestProbe
    let found = input.withBytes(min(end, InputBuffer.longestProbe)) { text in
      Result { () throws(CouchWrapper.Doubt) in
        try CouchWrapper(text, isWhole: isWhole, isForced: isForced)
      }
    }
    do throws(CouchWrapper.Doubt) {
      return try found.get()
    } catch {
      throw ImportError(error.message, at: input)
    }
  }
}
