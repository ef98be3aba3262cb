public import CDTJSON

extension DocumentDraft {
  /// Creates a draft whose body is encoded from a value of your own type.
  ///
  /// ```swift
  /// struct Todo: Codable { var description: String, completed: Bool }
  /// let milk = try DocumentDraft(id: "milk", encoding: Todo(description: "Buy milk", completed: false))
  /// ```
  ///
  /// By default, dates are encoded as ISO 8601 strings and data as Base64.
  ///
  /// - Throws: `EncodingError` with the path of a value that JSON can't represent, or if the value is not encoded as
  ///   an object; errors of the type's own encoding.
  ///
  /// Source: `docs/crud.md`, Codable.
  public init(
    id: String? = nil, encoding value: some Encodable, options: JSONCodingOptions = .init()
  ) throws {
    self.init(id: id, body: try JSONObject(encoding: value, options: options))
  }
}

extension DocumentRevision {
  /// Decodes the body as a value of your own type; members that the type does not know are ignored.
  ///
  /// ```swift
  /// let todo = try store.document(withID: "milk").decode(Todo.self)
  /// ```
  ///
  /// - Throws: ``DatastoreError`` with the code `.missingBody` if there is no body; `DecodingError` with the path of a
  ///   missing or mistyped value; errors of the type's own decoding.
  ///
  /// Source: `docs/crud.md`, Codable.
  public func decode<T: Decodable>(
    _ type: T.Type = T.self, options: JSONCodingOptions = .init()
  ) throws -> T {
    guard hasBody else { throw DatastoreError.nothingToDecode(id) }
    return try body.decode(type, options: options)
  }
}
