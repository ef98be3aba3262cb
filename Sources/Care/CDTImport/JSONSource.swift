import CDTDatastore
import CDTJSON
import CDTPlatform

/// Documents in JSON text: objects one after another, arrays of objects, and objects around them.
///
/// ```
/// {"_id": "a"}                 a document, on one line or several
/// [{"_id": "b"}, …]            documents
/// {"docs": [{"_id": "c"}, …]}  documents in a wrapper of CouchDB, see ``CouchWrapper``
/// {"index": {"_id": "d"}}      the line before a document, see ``BulkAction``
/// ```
///
/// With a path, the text is one object, whose member at the path is an array of documents, or an object whose members are
/// documents; or it has several objects, each with a document at the path.
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

  /// The kind of the objects of the text.
  private enum Kind {
    case unknown, documents, wrappers, actions
  }

  /// Whether each value of the text is one line, as in the files of couchbackup and pouchdb-dump: a line that is cut off ends there.
  private var hasLines = false
  /// The path to the documents in each object of the text.
  private var linePath: ArraySlice<String> = []
  private var object: OpenObject?

  private enum State {
    /// Between the values of the text.
    case between
    /// In front of an element of the container, or at its end.
    case beforeFirst, atElement, behindElement
    case ended
  }

  /// The place at which reading continues after an invalid document.
  private enum Recovery {
    case none, nextLine, nextObject, nextElement
    /// The next value begins here.
    case here
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
    /// The line that it is on, if it is on one.
    var line: Int?

    var isObject: Bool { end == UInt8(ascii: "}") }
  }

  /// An object that begins here, or begins before the document that was read last, with documents at a path in it.
  private struct OpenObject {
    var places: ArraySlice<PathDocuments.Place>
    let length: Int
    /// The number of its bytes that are consumed.
    var passed = 0
  }

  /// The number of bytes of a value that are read to recognize a wrapper.
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
      if object != nil, let place = try documentOfObject(&normalizer) { return place }
      switch state {
      case .ended: return nil
      case .between:
        if let place = try value(&normalizer) { return place }
      case .beforeFirst, .atElement, .behindElement:
        guard try moveToElement() else { continue }
        recovery = .nextElement
        let place = try element(&normalizer)
        state = .behindElement
        if let place { return place }
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
      container.line = hasLines ? input.line : nil
      state = .beforeFirst
      isFirst = false
      if kind == .unknown { kind = .documents }
      return nil
    case UInt8(ascii: "{"):
      var id: String?
      if kind == .actions || kind == .unknown && format == .automatic, let action = try takeAction() {
        guard case .save(let given) = action else { return nil }
        id = given
      } else if kind == .unknown || kind == .wrappers, try takeWrapper() {
        return nil
      }
      return try document(&normalizer, named: id)
    default:
      recovery = .nextLine
      let remedy =
        isFirst && format == .automatic
        ? "; for comma-separated values give --format csv" : "; remove anything else"
      throw ImportError("expected an object, in braces\(remedy)", at: input)
    }
  }

  /// Takes the line of an action. The next byte is then that of its document, if it has one.
  ///
  /// - Returns: `nil` if the text has no actions.
  private mutating func takeAction() throws -> BulkAction? {
    let isAction =
      try kind == .actions
      || input.withBytes { BulkAction.canBegin($0) }
        && input.hasSeveralObjects(within: Self.longestProbe)
    let length = isAction ? try input.valueLength() : nil
    guard let length, let action = input.withBytes(length, { BulkAction($0) }) else {
      guard kind == .actions else { return nil }
      recovery = .nextLine
      throw ImportError(
        "expected an action, as in {\"index\": {\"_id\": \"1\"}}; give --format json to import every line as it is",
        at: input)
    }
    if kind == .unknown { notices.append(.bulkActions(input.name)) }
    kind = .actions
    isFirst = false
    let place = ImportError(
      "an update has only a part of a document; leave it out, and import the document as it is now", at: input
    )
    input.take(length)
    if case .delete = action { return action }
    let next = try input.nextByte()
    if case .update = action {
      recovery = .nextLine
      throw place
    }
    guard next == UInt8(ascii: "{") else {
      recovery = next == nil ? .none : .nextLine
      throw ImportError("expected the document of the action on the line before", at: input)
    }
    return action
  }

  /// Enters a wrapper of CouchDB, or skips an object of a dump that has no documents.
  ///
  /// - Returns: `false` if the object is a document.
  private mutating func takeWrapper() throws -> Bool {
    let wasUnknown = kind == .unknown
    guard let found = try probe() else {
      if hasLines, try !input.isValueOnLine() {
        recovery = .nextLine
        throw ImportError(Self.cutLine, at: input)
      }
      if format == .couchDB { return false }
      kind = .documents
      guard !wasUnknown else { return false }
      throw fatal(
        ImportError(
          "this object does not have the form of the ones before it, which is CouchDB's; give --format json to import every object as it is, or --format couchdb",
          at: input))
    }
    kind = .wrappers
    isFirst = false
    if found == .backupHeader || found == .pouchHeader { hasLines = true }
    if wasUnknown, format == .automatic { notices.append(.wrapper(found, input.name)) }
    if let array = found.array {
      container = Container(depth: 1, wrapper: found, line: hasLines ? input.line : nil)
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
    if hasLines {
      end =
        input.withBytes { Bytes.firstIndex(of: UInt8(ascii: "\n"), in: $0, from: 0, to: min(end, $0.count)) }
        ?? end
    }
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

  /// Reads the object that begins here; `nil` if it has the documents in it.
  ///
  /// - Parameter id: The id that its action gives it.
  private mutating func document(
    _ normalizer: inout JSONNormalizer, named id: String?
  ) throws -> SourcePlace? {
    let (line, column) = (input.line, isFirst ? input.column : 1)
    let length: Int
    switch try input.normalize(&normalizer) {
    case .success(let end): length = end
    case .failure(let error):
      recovery = error.line == 1 ? .nextLine : .nextObject
      throw ImportError(error, in: input)
    }
    if !linePath.isEmpty {
      recovery = .nextObject
      try open(length, at: linePath)
      return nil
    }
    input.take(length)
    if isFirst {
      isFirst = false
      normalizer.settle()
      try judgeFirst(normalizer, SourcePlace(file: input.name, line: line), column)
    }
    return SourcePlace(file: input.name, line: line, name: id)
  }

  /// If the whole text is one object without `_id`, it may be meant as many documents.
  private mutating func judgeFirst(
    _ document: JSONNormalizer, _ place: SourcePlace, _ column: Int
  ) throws {
    guard format == .automatic, try input.nextByte() == nil else { return }
    let reserved = document.reserved.map(\.name)
    guard !reserved.contains("_id"),
      let embedded = document.text.withUnsafeBytes({ EmbeddedDocuments(JSONBytes($0)) })
    else { return }
    if case .groups(let groups) = embedded { return notices.append(.embedded(groups, input.name)) }
    guard let doubt = embedded.doubt, reserved.isEmpty else { return }
    throw fatal(ImportError(file: place.file, line: place.line, column: column, message: doubt))
  }

  mutating func recover() throws -> Bool {
    defer { recovery = .none }
    switch recovery {
    case .none: return false
    case .here: break
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
    if state != .atElement { try checkLine() }
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

  /// Throws if the container is to be on one line, and that line ends here.
  private mutating func checkLine() throws {
    guard let line = container.line else { return }
    guard try input.nextByte() == nil || input.line != line else { return }
    (state, recovery) = (.between, .here)
    throw ImportError(file: input.name, line: line, column: 0, message: Self.cutLine)
  }

  private static let cutLine = "the line is cut off; the rest of it is missing, so read the database again"

  /// Reads the element that begins here; `nil` if it has the documents in it.
  private mutating func element(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    var name: String?
    try checkLine()
    if container.isObject {
      do { name = try input.memberName() } catch let error as ImportError { throw fatal(error) }
      if name?.isEmpty == true {
        notices.append(.memberWithoutName(input.name))
        name = nil
      }
    }
    guard try input.nextByte() == UInt8(ascii: "{") else {
      throw ImportError("a document must be an object in braces; remove anything else", at: input)
    }
    let line = input.line
    let result = try input.normalize(&normalizer)
    if case .failure = result, container.line != nil, try !input.isValueOnLine() {
      (state, recovery) = (.between, .nextLine)
      throw ImportError(Self.cutLine, at: input)
    }
    switch result {
    case .success(let end):
      guard container.rest.isEmpty else {
        try open(end, at: container.rest)
        return nil
      }
      input.take(end)
    case .failure(let error) where error.code == .unexpectedEnd:
      throw ImportError(
        "the text ends inside the document that begins here; check that it is complete", at: input)
    case .failure(let error): throw ImportError(error, in: input)
    }
    return SourcePlace(file: input.name, line: line, name: name, isWrapped: kind == .wrappers)
  }

  // MARK: Documents at a path in an object

  /// Finds the documents at a path in the valid object that begins here.
  private mutating func open(_ length: Int, at path: ArraySlice<String>) throws {
    guard let found = input.withBytes(length, { PathDocuments(JSONBytes($0), at: path) }) else {
      throw ImportError(
        "the element has no object at \(DatastoreError.quoted(path.joined(separator: "."))); check the path given to --at",
        at: input)
    }
    object = OpenObject(places: found.places[...], length: length)
  }

  /// Reads the next document of the open object; `nil` behind the last, when the object is consumed.
  private mutating func documentOfObject(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    guard var object else { return nil }
    let place = object.places.popFirst()
    let next = place?.start ?? object.length
    input.take(next - object.passed)
    object.passed = next
    self.object = place == nil ? nil : object
    guard let place else { return nil }
    recovery = .here
    if case .failure(let error) = try input.normalize(&normalizer) { throw ImportError(error, in: input) }
    return SourcePlace(file: input.name, line: input.line, name: place.id)
  }

  // MARK: Objects around the documents

  /// Moves to the first element of the array or object at a path. From an array on the path on, the rest of it is followed
  /// in each element.
  ///
  /// If the text has several objects, the whole path is followed in each.
  private mutating func enter(_ path: [String]) throws {
    if !path.isEmpty, try input.hasSeveralObjects(within: Self.longestProbe),
      !input.withBytes(nil, { PathDocuments.hasArray(JSONBytes($0), at: path) })
    {
      (linePath, kind) = (path[...], .documents)
      return
    }
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
      // Its last document is whole, and the next value begins on the next line.
      if let line = container.line, try input.nextByte() == nil || input.line != line { break }
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
        "the documents end here, but the text continues; import the rest on its own", at: input)
    }
    state = .ended
  }
}
