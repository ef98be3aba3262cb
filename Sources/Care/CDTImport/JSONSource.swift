import CDTDatastore
import CDTJSON
import CDTPlatform

/// Documents in JSON text: objects one after another, arrays of objects, and objects around them.
///
/// ```
/// {"_id": "a"}                 a document, on one line or several
/// [{"_id": "b"}, …]            documents
/// {"docs": [{"_id": "c"}, …]}  documents in a wrapper of CouchDB, see ``WrapperForm``
/// {"index": {"_id": "d"}}      the line before a document, see ``ActionForm``
/// ```
///
/// With a path, the text is one object, whose member at the path is an array of documents, or an object whose members are
/// documents; or it has several objects, each with a document at the path, see ``PathForm``.
struct JSONSource: DocumentSource {
  private var input: InputBuffer
  private let path: [String]?
  private let format: DocumentImporter.Format
  /// The forms that the text may have, or its form when that is known; none if its objects are documents.
  private var forms: [any JSONForm]
  /// The container that is read; `nil` between the values of the text.
  private var container: JSONContainer?
  /// The documents in the object that is read.
  private var object: PathDocuments?
  private var notices: [ImportNotice] = []
  /// Whether the first document decides whether the text is one object that has documents in it.
  private var isFirst = true
  /// The place at which reading continues after the last error; `nil` if the structure of the text is unknown from there on.
  private var recovery: RecoverableError.Place?
  private var isEnded = false
  /// Whether the last error is due to the end of the text; `nil` without an error.
  private var isDueToEnd: Bool?
  var isCut: Bool { isDueToEnd == true }

  init(_ input: InputBuffer, at path: [String]?, format: DocumentImporter.Format) {
    self.input = input
    self.path = path
    self.format = format
    forms = format.forms
  }

  var taken: Int64 { input.taken }

  mutating func takeNotices() -> [ImportNotice] {
    defer { notices = [] }
    return notices
  }

  mutating func next(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    (recovery, isDueToEnd) = (nil, nil)
    do {
      return try read(&normalizer)
    } catch {
      isDueToEnd = isDueToEnd ?? input.endsInsideValue()
      guard let failure = error as? RecoverableError else { throw error }
      recovery = failure.next
      throw failure.error
    }
  }

  mutating func recover() throws -> Bool {
    switch recovery {
    case nil: isEnded = true
    case .document: break
    case .value: container = nil
    case .line:
      container = nil
      try skipLine()
    case .object:
      repeat {
        try skipLine()
      } while try input.nextByte() != nil
        && !(input.column == 1 && (input[0] == UInt8(ascii: "{") || input[0] == UInt8(ascii: "[")))
    case .element:
      // The error is already reported, and so is the missing end.
      do { try input.skipValue() } catch is ImportError { isEnded = true }
    }
    return !isEnded
  }

  private mutating func skipLine() throws {
    if let length = try input.lineLength() { input.takeLine(length) }
  }

  private mutating func read(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    if let path, isFirst {
      isFirst = false
      let form = PathForm(path: path)
      container = try form.enter(&input)
      if container == nil { forms = [form] }
      if container?.isObject == true { notices.append(.members(path, input.name)) }
    }
    while !isEnded {
      if let place = try documentInObject(&normalizer) { return place }
      if container != nil {
        if let place = try element(&normalizer) { return place }
      } else {
        guard let byte = try input.nextByte() else { return nil }
        if let place = try value(byte, &normalizer) { return place }
      }
    }
    return nil
  }

  /// Reads the document that is the next value, or enters the array or wrapper that is; `nil` if there is no document yet.
  private mutating func value(_ byte: UInt8, _ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    switch byte {
    case UInt8(ascii: "["):
      input.take(1)
      let array = forms.count == 1 ? forms[0].array(in: input) : nil
      if array == nil { forms = [] }
      (container, isFirst) = (array ?? JSONContainer(), false)
    case UInt8(ascii: "{"):
      switch try role() {
      case .document(let id, let path): return try document(&normalizer, named: id, at: path)
      case .other(let entered): container = entered
      }
    default:
      let remedy =
        isFirst && format == .automatic
        ? "; for comma-separated values give --format csv" : "; remove anything else"
      throw RecoverableError("expected an object, in braces\(remedy)", at: input, next: .line)
    }
    return nil
  }

  /// Decides what the object that begins here is, by the first form that it has.
  private mutating func role() throws -> JSONRole {
    for index in forms.indices {
      defer { recognize(index) }
      if let role = try forms[index].take(&input) { return role }
    }
    if format == .automatic { forms = [] }
    return .document()
  }

  /// Leaves a form alone if an object had it.
  private mutating func recognize(_ index: Int) {
    guard forms.count > 1, let notice = forms[index].notice(input.name) else { return }
    forms = [forms[index]]
    notices.append(notice)
    isFirst = false
  }

  /// Reads the object that begins here; `nil` if it has the documents in it.
  ///
  /// - Parameters:
  ///   - id: The id that is given beside it.
  ///   - path: The path in it to the documents.
  private mutating func document(
    _ normalizer: inout JSONNormalizer, named id: String?, at path: ArraySlice<String>
  ) throws -> SourcePlace? {
    let (line, column) = (input.line, isFirst ? input.column : 1)
    switch try input.normalize(&normalizer) {
    case .failure(let error): throw try failure(error)
    case .success(let length):
      guard path.isEmpty else {
        object = input.withBytes(length) { PathDocuments($0, at: path) }
        if object != nil { return nil }
        throw RecoverableError(
          "the element has no object at \(DatastoreError.quoted(path.joined(separator: "."))); check the path given to --at",
          at: input, next: container == nil ? .object : .element)
      }
      input.take(length)
    }
    let place = SourcePlace(
      file: input.name, line: line, name: id, isWrapped: container?.isOfCouchDB == true)
    if isFirst {
      isFirst = false
      normalizer.settle()
      try judgeFirst(normalizer, place, column)
    }
    return place
  }

  /// The error of an object that is not valid, which begins here.
  private mutating func failure(_ error: JSONError) throws -> RecoverableError {
    let plain = ImportError(error, in: input)
    isDueToEnd = input.isDueToEnd(error)
    guard let container else {
      return RecoverableError(error: plain, next: error.line == 1 ? .line : .object)
    }
    if container.line != nil, try !input.isValueOnLine() {
      return RecoverableError(WrapperForm.cutLine, at: input, next: .line)
    }
    guard error.code == .unexpectedEnd else { return RecoverableError(error: plain, next: .element) }
    return RecoverableError(
      "the text ends inside the document that begins here; check that it is complete", at: input,
      next: .element)
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
    isDueToEnd = false
    throw ImportError(file: place.file, line: place.line, column: column, message: doubt)
  }

  /// Reads the next element of the container; `nil` if it has the documents in it, or if there is no other element.
  private mutating func element(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    guard try self.container?.next(&input) == true, let container = self.container else {
      self.container = nil
      guard try path == nil || input.nextByte() == nil else {
        throw ImportError(
          "the documents end here, but the text continues; import the rest on its own", at: input)
      }
      return nil
    }
    let hasName = container.name?.isEmpty == false
    if container.isObject, !hasName { notices.append(.memberWithoutName(input.name)) }
    return try document(&normalizer, named: hasName ? container.name : nil, at: container.rest)
  }

  /// Reads the next document in the object; `nil` if there is no other.
  private mutating func documentInObject(_ normalizer: inout JSONNormalizer) throws -> SourcePlace? {
    guard let place = object?.next(&input) else {
      object = nil
      return nil
    }
    if case .failure(let error) = try input.normalize(&normalizer) {
      throw RecoverableError(error: ImportError(error, in: input), next: .document)
    }
    return SourcePlace(file: input.name, line: input.line, name: place.id)
  }
}
