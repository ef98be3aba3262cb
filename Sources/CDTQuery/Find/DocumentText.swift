import JSON
import SQLite

/// Writes a result as text: `{"_id":"…","_rev":"…",` and then the body's members.
enum DocumentText {
  static func write(_ row: Statement, projection: Projection, to buffer: inout [UInt8]) {
    buffer += Array("{\"_id\":".utf8)
    row.withBytes(1) { JSONString.write($0, to: &buffer) }
    buffer += Array(",\"_rev\":".utf8)
    row.withBytes(2) { JSONString.write($0, to: &buffer) }
    row.withBytes(3) { body in
      if projection.isEverything {
        appendMembers(body, to: &buffer)
      } else {
        let projected = projection.apply(to: JSONBytes(body).value(at: 0).objectValue ?? [:])
        projected.utf8Text.withUnsafeBytes { appendMembers($0, to: &buffer) }
      }
    }
  }

  /// Appends an object's text without its opening brace.
  private static func appendMembers(_ object: UnsafeRawBufferPointer, to buffer: inout [UInt8]) {
    guard object.count > 2 else { return buffer.append(UInt8(ascii: "}")) }
    buffer.append(UInt8(ascii: ","))
    buffer.append(contentsOf: object.dropFirst())
  }
}
