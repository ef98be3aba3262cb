import CDTDatastore
import JSON
import SQLite

/// Writes a result as text: `{"_id":"…","_rev":"…",` and then the body's members.
enum DocumentText {
  /// Replaces what is in the buffer by the text of a row with the columns body, id and revision.
  @inline(__always)
  static func write(_ row: Statement, projection: Projection?, to buffer: inout TextBuffer) {
    let (body, id, revision) = (row.unsafeBytes(0), row.unsafeBytes(1), row.unsafeBytes(2))
    guard let projection else {
      return StoredDocument.write(id: id, revision: revision, body: body, to: &buffer)
    }
    let projected = projection.apply(to: JSONBytes(body).value(at: 0).objectValue ?? [:])
    projected.utf8Text.withUnsafeBytes {
      StoredDocument.write(id: id, revision: revision, body: $0, to: &buffer)
    }
  }
}
