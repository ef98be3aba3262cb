/// Lines of actions, each before its document, see ``BulkAction``.
struct ActionForm: JSONForm {
  private(set) var isRecognized = false

  func array(in input: InputBuffer) -> JSONContainer? { isRecognized ? JSONContainer() : nil }
  func notice(_ file: String) -> ImportNotice? { isRecognized ? .bulkActions(file) : nil }

  mutating func take(_ input: inout InputBuffer) throws -> JSONRole? {
    let isAction =
      try isRecognized || input.withBytes { BulkAction.canBegin($0) } && input.hasSeveralObjects()
    let length = isAction ? try input.valueLength() : nil
    guard let length, let action = input.withBytes(length, { BulkAction($0) }) else {
      guard isRecognized else { return nil }
      throw RecoverableError(
        "expected an action, as in {\"index\": {\"_id\": \"1\"}}; give --format json to import every line as it is",
        at: input, next: .line)
    }
    isRecognized = true
    let update = ImportError(
      "an update has only a part of a document; leave it out, and import the document as it is now", at: input
    )
    input.take(length)
    if case .delete = action { return .other() }
    let hasObject = try input.nextByte() == UInt8(ascii: "{")
    guard case .save(let id) = action else { throw RecoverableError(error: update, next: .line) }
    guard hasObject else {
      throw RecoverableError("expected the document of the action on the line before", at: input, next: .line)
    }
    return .document(id: id)
  }
}
