import CDTDatastore
import CDTJSON
import Synchronization

/// The names that the properties of models have in documents.
enum PropertyName {
  private static let known = Mutex<[ObjectIdentifier: [String: Result<String, QueryError>]]>([:])

  /// - Parameter isDocument: Whether the property is one of a whole document, which may be its id or revision.
  static func of<Root>(_ property: PartialKeyPath<Root>, isDocument: Bool) throws(QueryError) -> String {
    guard let name = swiftName(property) else {
      throw QueryError(.computedProperty(type(of: property).valueType, of: Root.self))
    }
    if isDocument, Root.self is any DocumentModel.Type {
      if name == "id" { return "_id" }
      if name == "revision" { return "_rev" }
    }
    // Types are never deallocated, so the identifier remains that of the type.
    let type = ObjectIdentifier(Root.self)
    if let known = known.withLock({ $0[type]?[name] }) { return try known.get() }
    let found = Result { () throws(QueryError) in try encodedName(of: property, named: name) }
    known.withLock { $0[type, default: [:]][name] = found }
    return try found.get()
  }

  /// The name in a key path's description, `\Task.title`; `nil` for a computed property, `\Task.<computed 0x… (Int)>`.
  private static func swiftName<Root>(_ property: PartialKeyPath<Root>) -> String? {
    let (text, root) = ("\(property)", "\\\(Root.self).")
    guard text.hasPrefix(root) else { return nil }
    let name = text.dropFirst(root.count)
    return name.contains(where: { "<.?![".contains($0) }) ? nil : String(name)
  }

  /// Finds the member of which a property is made: it differs between two values that are decoded with different members.
  /// If none can be made, the property has its name in Swift if that is a coding key.
  private static func encodedName<Root>(
    of property: PartialKeyPath<Root>, named name: String
  ) throws(QueryError) -> String {
    guard let type = Root.self as? any Decodable.Type else {
      throw QueryError(.notDecodable(Root.self), at: name)
    }
    let keys = SampleKeys()
    let first = sample(type, property, keys, changed: nil)
    if let first {
      let makers = keys.names.filter { key in
        sample(type, property, keys, changed: key).map { $0 != first } ?? false
      }
      if makers.count == 1 { return makers[0] }
    }
    guard let accepts = keys.accepts, accepts(name) else {
      throw .unknownName(name, of: Root.self, unmade: first == nil ? keys.unmade : nil)
    }
    return name
  }

  /// The property, encoded, of a value that is decoded from samples; `nil` if there is no such value.
  private static func sample<T: Decodable>(
    _ type: T.Type, _ property: AnyKeyPath, _ keys: SampleKeys, changed: String?
  ) -> JSONValue? {
    guard let value = try? T(from: SampleDecoder(keys: keys, changed: changed)),
      let member = value[keyPath: property] as? any Encodable
    else { return nil }
    return try? JSONValue(encoding: member)
  }
}

extension QueryError {
  fileprivate static func unknownName(
    _ name: String, of type: any Any.Type, unmade: (any Any.Type)?
  ) -> QueryError {
    let reason =
      unmade.map {
        "it is not a coding key, and no value of \($0) can be made to find its key; make \($0) CaseIterable"
      }
      ?? "no member of a document decides it; give it a coding key"
    return QueryError(
      .invalidPath, at: name,
      "the property \"\(name)\" of \(type) is not stored under a known name: \(reason), or use a selector")
  }
}
