import JSON

/// A document's text as users get it, made of what is stored: `{"_id":"…","_rev":"…",` and then the body's members.
package enum StoredDocument {
  /// Replaces what is in the buffer by the text of a document.
  package static func write(
    id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
    to buffer: inout [UInt8]
  ) {
    buffer.removeAll(keepingCapacity: true)
    append("{\"_id\":\"", to: &buffer)
    JSONString.appendSpelling(of: id, to: &buffer)
    append("\",\"_rev\":\"", to: &buffer)
    JSONString.appendSpelling(of: revision, to: &buffer)
    guard body.count > 2 else { return append("\"}", to: &buffer) }
    append("\",", to: &buffer)
    buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: body.dropFirst()))
  }

  @inline(__always)
  private static func append(_ text: StaticString, to buffer: inout [UInt8]) {
    text.withUTF8Buffer { buffer.append(contentsOf: $0) }
  }
}
