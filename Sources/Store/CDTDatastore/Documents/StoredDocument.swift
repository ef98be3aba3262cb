package import CDTJSON

/// A document's JSON text, assembled from stored columns: `{"_id":"…","_rev":"…",` and then the body's members.
package enum StoredDocument {
  /// Replaces the content of the buffer with the text of a document.
  package static func write(
    id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
    to buffer: inout TextBuffer
  ) {
    // Nearly all ids need no escaping.
    if JSONString.isItsSpelling(id), JSONString.isItsSpelling(revision) {
      return write(spelledID: id, revision, body, to: &buffer)
    }
    JSONString.spelling(of: Array(id)).withUnsafeBytes { id in
      JSONString.spelling(of: Array(revision)).withUnsafeBytes { revision in
        write(spelledID: id, revision, body, to: &buffer)
      }
    }
  }

  /// The length of the text around the id, the revision and the body.
  private static let frame = 24

  @inline(__always)
  private static func write(
    spelledID id: UnsafeRawBufferPointer, _ revision: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer,
    to buffer: inout TextBuffer
  ) {
    buffer.replace(upTo: frame + id.count + revision.count + body.count) { start in
      var end = start
      append("{\"_id\":\"", at: &end)
      append(id, at: &end)
      append("\",\"_rev\":\"", at: &end)
      append(revision, at: &end)
      if body.count > 2 {
        append("\",", at: &end)
        append(UnsafeRawBufferPointer(rebasing: body[1...]), at: &end)
      } else {
        append("\"}", at: &end)
      }
      return end
    }
  }

  @inline(__always)
  private static func append(_ bytes: UnsafeRawBufferPointer, at end: inout UnsafeMutableRawPointer) {
    guard let start = bytes.baseAddress else { return }
    end.copyMemory(from: start, byteCount: bytes.count)
    end += bytes.count
  }

  @inline(__always)
  private static func append(_ text: StaticString, at end: inout UnsafeMutableRawPointer) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), at: &end)
  }
}
