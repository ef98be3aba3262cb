package import JSON

/// A document's text as users get it, made of what is stored: `{"_id":"…","_rev":"…",` and then the body's members.
package enum StoredDocument {
  /// Replaces what is in the buffer by the text of a document.
  package static func write(
    id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
    to buffer: inout TextBuffer
  ) {
    buffer.removeAll()
    buffer.append("{\"_id\":\"")
    appendSpelling(of: id, to: &buffer)
    buffer.append("\",\"_rev\":\"")
    appendSpelling(of: revision, to: &buffer)
    guard body.count > 2 else { return buffer.append("\"}") }
    buffer.append("\",")
    buffer.append(UnsafeRawBufferPointer(rebasing: body[1...]))
  }

  @inline(__always)
  private static func appendSpelling(of utf8: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    // Nearly every id is its own spelling.
    if JSONString.isItsSpelling(utf8) { return buffer.append(utf8) }
    JSONString.spelling(of: Array(utf8)).withUnsafeBytes { buffer.append($0) }
  }
}
