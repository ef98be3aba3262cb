import CDTDatastore
import JSON

/// Writes a result as text: `{"_id":"…","_rev":"…",` and then the body's members.
enum DocumentText {
  /// Replaces what is in the buffer by the text of a document.
  static func write(
    id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
    projection: Projection?, to buffer: inout TextBuffer
  ) {
    guard let projection else {
      return StoredDocument.write(id: id, revision: revision, body: body, to: &buffer)
    }
    let projected = projection.apply(to: JSONBytes(body).value(at: 0).objectValue ?? [:])
    projected.utf8Text.withUnsafeBytes {
      StoredDocument.write(id: id, revision: revision, body: $0, to: &buffer)
    }
  }
}
