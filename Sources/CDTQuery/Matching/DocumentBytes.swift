package import CDTJSON

/// A stored document, valid during a call: its id, its revision id, and the text of its body.
package struct DocumentBytes {
  package let id: UnsafeRawBufferPointer
  package let revision: UnsafeRawBufferPointer
  package let body: JSONBytes

  package init(id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
    self.id = id
    self.revision = revision
    self.body = JSONBytes(body)
  }

  /// The value of a field that is not in the body.
  func string(of field: FieldPath.DocumentField) -> UnsafeRawBufferPointer {
    field == .id ? id : revision
  }
}
