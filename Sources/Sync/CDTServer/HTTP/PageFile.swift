import CDTCPage
import CDTDigest
import CDTPlatform
import NIOCore

/// A file of the page that browsers show, which is part of the program.
struct PageFile: Sendable {
  let content: ByteBuffer
  /// The media type.
  let type: String
  /// The `ETag`: the digest of the content.
  let tag: String

  /// The files by their names. See `docs/decisions/32-a-look-into-a-store.md`.
  static let all: [String: PageFile] = {
    let files = (0..<cdt_page_file_count()).map { cdt_page_file($0) }
    return Dictionary(uniqueKeysWithValues: files.map { (String(cString: $0.name), PageFile($0)) })
  }()

  private init(_ file: cdt_page_file) {
    let bytes = UnsafeBufferPointer(start: file.bytes, count: file.length)
    let name = String(cString: file.name)
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    content = ByteBuffer(
      bytes: lines.map { Self.shortened($0, isScript: name.hasSuffix(".js")) }.joined(separator: "\n".utf8))
    type = Self.type(ofName: name)
    tag = "\"\(Hexadecimal.text(Digest.hash(Array(content.readableBytesView), .sha256)))\""
  }

  /// A line without its indentation; nothing of a comment, whose line stays so that messages of a browser name the right one.
  private static func shortened(
    _ line: Slice<UnsafeBufferPointer<UInt8>>, isScript: Bool
  ) -> Slice<UnsafeBufferPointer<UInt8>> {
    let text = line.drop { $0 == UInt8(ascii: " ") }
    let isComment = isScript && ["//", "/*", "*"].contains { text.starts(with: $0.utf8) }
    return isComment ? text.prefix(0) : text
  }

  private static func type(ofName name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "application/octet-stream"
    }
  }
}
