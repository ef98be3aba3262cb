import JSON

extension DocumentRevision {
  /// A revision to be saved as a new document, whose body is a value of a type of one's own.
  ///
  /// ```swift
  /// struct Task: Codable { var description: String, completed: Bool }
  /// let milk = try DocumentRevision(id: "milk", encoding: Task(description: "Buy milk", completed: false))
  /// ```
  ///
  /// - Throws: `EncodingError` with the path of a value that JSON can't hold, also for a value that is encoded as
  ///   anything but an object; what the type itself throws passes through.
  ///
  /// Source: `docs/crud.md`, Codable.
  public init(id: String? = nil, encoding value: some Encodable) throws {
    self.init(id: id, body: try JSONObject(encoding: value))
  }

  /// The body as a value of a type of one's own; members that the type does not know are passed over.
  ///
  /// ```swift
  /// let task = try store.document(withID: "milk").decode(Task.self)
  /// ```
  ///
  /// - Throws: ``DatastoreError`` with the code `.missingBody` when there is no body; `DecodingError` with the path of
  ///   what is missing or of another type; what the type itself throws passes through.
  ///
  /// Source: `docs/crud.md`, Codable.
  public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
    guard hasBody else { throw DatastoreError.nothingToDecode(id) }
    return try body.decode(type)
  }
}
