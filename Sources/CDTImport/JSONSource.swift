import CDTDatastore
import CDTJSON
import CDTPlatform

/// Documents in JSON text: objects one after another, arrays of objects, and objects around them.
///
/// ```
/// {"_id": "a"}                 a document, on one line or several
/// [{"_id": "b"}, …]            documents
/// {"docs": [{"_id": "c"}, …]}  documents in a wrapper of CouchDB, see ``CouchWrapper``
/// ```
///
/// With a path, the text is one object. Its member at the path is an array of documents, or an object whose members are
/// documents.
struct JSONSource: DocumentSource {
  private var input: InputBuffer
  private let path: [String]?
  private let format: DocumentImporter.Format
  private var kind = Kind.unknown
  private var state = State.between
  private var container = Container()
  private var recovery = Recovery.none
  private var notices: [ImportNotice] = []
  /// Whether the first document decides whether the text is one object that has documents in it.
  private var isFirst = true

  /// What the objects of the text are.
  private enum Kind {
    case unknown, documents, wrappers
  }

  private enum State {
    /// Between the values of the text.
    case between
    /// In front of an element of the container, or at its end.
    case beforeFirst, atElement, behindElement
    case ended
  }

  /// How to go on after an invalid document.
  private enum Recovery {
    case none, nextLine, nextObject, nextElement
  }

  /// An array or an object with documents.
  private struct Container {
    var end = UInt8(ascii: "]")
    /// The number of objects around it.
    var depth = 0
    /// The path from an element to its document.
    var rest: ArraySlice<String> = []
    /// The members that may stand beside it in its wrapper.
    var wrapper: CouchWrapper?

    var isObject: Bool { end == UInt8(ascii: "}") }
  }

  /// How much of a value is read to recognize a wrapper.
  private static let longestProbe = 1 << 20

  init(_ input: InputBuffer, at path: [String]?, format: DocumentImporter.Format) {
    self.input = input
    self.path = path
    self.format = format
    if format == .json || format == .mongoDB { kind = .documents }
  }

  var taken: Int64 { input.taken }

  mutating func takeNotices() -> [ImportNotice] {
    defer { notices = [] }
    return notices
  }

  mutating func next(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    if let path, isFirst {
      isFirst = false
      do { try enter(path) } catch let error as ImportError { throw fatal(error) }
    }
    while true {
      switch state {
      case .ended: return nil
      case .between:
        if let place = try value(&normalizer) { return place }
      case .beforeFirst, .atElement, .behindElement:
        guard try moveToElement() else { continue }
        recovery = .nextElement
        let place = try element(&normalizer)
        state = .behindElement
        return place
      }
    }
  }

  /// The structure of the text is unknown from here on.
  private mutating func fatal(_ error: ImportError) -> ImportError {
    state = .ended
    recovery = .none
    return error
  }

  // MARK: Values of the text

  /// Reads the document that is the next value, or enters the array or wrapper that is; `nil` if there is no document yet.
  private mutating func value(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    guard let byte = try input.nextByte() else {
      state = .ended
      return nil
    }
    switch byte {
    case UInt8(ascii: "["):
      input.take(1)
      container = Container()
      state = .beforeFirst
      isFirst = false
      if kind == .unknown { kind = .documents }
      return nil
    case UInt8(ascii: "{"):
      if kind != .documents, try takeWrapper() { return nil }
      return try document(&normalizer)
    default:
      recovery = .nextLine
      let remedy =
        isFirst && format == .automatic
        ? "; for comma-separated values give --format csv" : "; remove anything else"
      throw ImportError("expected an object, in braces\(remedy)", at: input)
    }
  }

  /// Enters a wrapper of CouchDB, or skips an object of a dump that has no documents.
  ///
  /// - Returns: `false` if the object is a document.
  private mutating func takeWrapper() throws -> Bool {
    let wasUnknown = kind == .unknown
    guard let found = try probe() else {
      if format == .couchDB { return false }
      kind = .documents
      guard !wasUnknown else { return false }
      throw fatal(
        ImportError(
          "this object is none of those that CouchDB's tools write, but those before it are; give --format json to import every object as it is, or --format couchdb",
          at: input))
    }
    kind = .wrappers
    isFirst = false
    if wasUnknown, format == .automatic { notices.append(.wrapper(found, input.name)) }
    if let array = found.array {
      container = Container(depth: 1, wrapper: found)
      do { try input.enterMember(array) } catch let error as ImportError { throw fatal(error) }
      guard try input.nextByte() == UInt8(ascii: "[") else {
        throw fatal(ImportError("expected an array of documents", at: input))
      }
      input.take(1)
      state = .beforeFirst
    } else {
      do { try input.skipValue() } catch let error as ImportError { throw fatal(error) }
    }
    return true
  }

  /// The wrapper that begins here; `nil` if the object is a document.
  private mutating func probe() throws -> CouchWrapper? {
    var end: Int
    repeat {
      end = input.withBytes { JSONBytes($0).endOfValue(at: 0) }
      if end < input.available || input.available >= Self.longestProbe { break }
      // The first names decide in most cases.
      if input.available >= 4_096, input.withBytes(nil, { CouchWrapper.isExcluded($0) }) { return nil }
    } while try input.fillMore()
    let isWhole = end <= Self.longestProbe
    let found: Result<CouchWrapper?, CouchWrapper.Doubt> = input.withBytes(min(end, Self.longestProbe)) {
      bytes in
      do throws(CouchWrapper.Doubt) {
        return .success(try CouchWrapper(bytes, isWhole: isWhole, isForced: format == .couchDB))
      } catch {
        return .failure(error)
      }
    }
    switch found {
    case .success(let wrapper): return wrapper
    case .failure(let doubt): throw fatal(ImportError(doubt.message, at: input))
    }
  }

  /// Reads the object that begins here.
  private mutating func document(_ normalizer: inout JSONNormalizer) throws -> SourcePlace {
    let (line, column) = (input.line, isFirst ? input.column : 1)
    let length: Int
    switch try read(&normalizer) {
    case .success(let end): length = end
    case .failure(let error):
      recovery = error.line == 1 ? .nextLine : .nextObject
      throw ImportError(error, in: input)
    }
    input.take(length)
    if isFirst {
      isFirst = false
      normalizer.settle()
      try judgeFirst(normalizer, SourcePlace(file: input.name, line: line), column)
    }
    return SourcePlace(file: input.name, line: line)
  }

  /// Normalizes the object that begins here, and reads on until its end is known.
  private mutating func read(_ normalizer: inout JSONNormalizer) throws -> Result<Int, JSONError> {
    while true {
      let result: Result<Int, JSONError> = input.withBytes { text in
        do throws(JSONError) {
          return .success(try normalizer.normalize(text))
        } catch {
          return .failure(error)
        }
      }
      // An error at the end of what was read may be only that.
      guard case .failure(let error) = result, error.offset + Self.longestToken >= input.available,
        try input.fillMore()
      else { return result }
    }
  }

  /// The length of an escaped surrogate pair, the longest token whose error is reported at its start.
  private static let longestToken = 16

  /// If the whole text is one object without `_id`, it may be meant as many documents.
  private mutating func judgeFirst(
    _ document: JSONNormalizer, _ place: SourcePlace, _ column: Int
  ) throws {
    guard format == .automatic, document.reserved.isEmpty, try input.nextByte() == nil else { return }
    switch document.text.withUnsafeBytes({ EmbeddedDocuments(JSONBytes($0)) }) {
    case nil: return
    case .array(let name, let count)?: notices.append(.embeddedArray(name, count, input.name))
    case .members(let count)?:
      recovery = .none
      state = .ended
      throw ImportError(
        file: place.file, line: place.line, column: column,
        message:
          "the text is one object whose \(count) members are objects of one kind; give --at . to import each of them with its name as the id, or --format json to import the object as one document"
      )
    }
  }

  mutating func recover() throws -> Bool {
    defer { recovery = .none }
    switch recovery {
    case .none: return false
    case .nextLine:
      try skipLine()
    case .nextObject:
      repeat {
        try skipLine()
      } while try input.nextByte() != nil
        && !(input.column == 1 && (input[0] == UInt8(ascii: "{") || input[0] == UInt8(ascii: "[")))
    case .nextElement:
      do {
        try input.skipValue()
      } catch is ImportError {
        // The error is already reported, and so is the missing end.
        state = .ended
        return false
      }
      state = .behindElement
    }
    return true
  }

  private mutating func skipLine() throws {
    if let length = try input.lineLength() { input.takeLine(length) }
  }

  // MARK: Elements

  /// Moves to the next element; `false` if there is none, and the text after the container is valid.
  private mutating func moveToElement() throws -> Bool {
    do {
      switch state {
      case .atElement: return true
      case .beforeFirst:
        if try input.nextByte() == container.end {
          try leave()
          return false
        }
      case .behindElement:
        switch try input.nextByte() {
        case UInt8(ascii: ",")?: input.take(1)
        case container.end?:
          try leave()
          return false
        case nil:
          let noun = container.isObject ? "object" : "array"
          throw ImportError("the text ends inside the \(noun); check that it is complete", at: input)
        default:
          throw ImportError("expected a comma or \"\(container.isObject ? "}" : "]")\"", at: input)
        }
      case .between, .ended: return false
      }
    } catch let error as ImportError {
      throw fatal(error)
    }
    state = .atElement
    return true
  }

  private mutating func element(_ normalizer: inout JSONNormalizer) throws -> SourcePlace {
    var name: String?
    if container.isObject {
      do { name = try input.memberName() } catch let error as ImportError { throw fatal(error) }
    }
    guard try input.nextByte() == UInt8(ascii: "{") else {
      throw ImportError("a document must be an object in braces; remove anything else", at: input)
    }
    let line = input.line
    switch try read(&normalizer) {
    case .success(let end):
      if !container.rest.isEmpty { try replace(&normalizer) }
      input.take(end)
    case .failure(let error) where error.code == .unexpectedEnd:
      throw ImportError(
        "the text ends inside the document that begins here; check that it is complete", at: input)
    case .failure(let error): throw ImportError(error, in: input)
    }
    return SourcePlace(file: input.name, line: line, name: name, isWrapped: kind == .wrappers)
  }

  /// Replaces an element by the document at the rest of the path.
  private func replace(_ normalizer: inout JSONNormalizer) throws {
    normalizer.settle()
    let text = normalizer.text
    let missing = ImportError(
      "the element has no object at \(DatastoreError.quoted(container.rest.joined(separator: "."))); check the path given to --at",
      at: input)
    let found = text.withUnsafeBytes { bytes in
      var value = 0
      for name in container.rest {
        guard
          let member = JSONBytes(bytes).member(spelled: JSONString.spelling(of: Array(name.utf8)), at: value)
        else { return false }
        value = member
      }
      return (try? normalizer.normalize(bytes, from: value)) != nil
    }
    guard found else { throw missing }
  }

  // MARK: Objects around the documents

  /// Moves to the first element of the array or object at a path. From an array on the path on, the rest of it is followed
  /// in each element.
  private mutating func enter(_ path: [String]) throws {
    var rest = path[...]
    container = Container()
    while let name = rest.first, try input.nextByte() != UInt8(ascii: "[") {
      try input.enterMember(name)
      rest.removeFirst()
      container.depth += 1
    }
    switch try input.nextByte() {
    case UInt8(ascii: "[")?: container.rest = rest
    case UInt8(ascii: "{")?:
      container.end = UInt8(ascii: "}")
      notices.append(.members(path, input.name))
    default: throw ImportError("expected an array or an object of documents", at: input)
    }
    input.take(1)
    state = .beforeFirst
  }

  /// Leaves the container, and skips the rest of the objects around it.
  private mutating func leave() throws {
    input.take(1)
    for _ in 0..<container.depth {
      while try input.nextByte() == UInt8(ascii: ",") {
        input.take(1)
        guard try input.nextByte() == UInt8(ascii: "\"") else { break }
        let place = ImportError("", at: input)
        let name = try input.memberName()
        try container.wrapper?.check(memberBehind: name, isForced: format == .couchDB).map {
          throw ImportError(file: place.file, line: place.line, column: place.column, message: $0.message)
        }
        try input.skipValue()
      }
      guard try input.nextByte() == UInt8(ascii: "}") else {
        throw ImportError("expected a comma or \"}\"", at: input)
      }
      input.take(1)
    }
    state = .between
    guard path != nil else { return }
    guard try input.nextByte() == nil else {
      throw ImportError(
        "the documents end here, but the text goes on; import what follows on its own", at: input)
    }
    state = .ended
  }
}
