import CDTCPage
import CDTDigest
import CDTGzip
import CDTPlatform
import NIOCore

/// A file of the page that browsers show, which is part of the program.
struct PageFile: Sendable {
  let content: ByteBuffer
  /// The content for clients that take gzip; `nil` if there was no memory for it.
  let compressed: ByteBuffer?
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
    content = ByteBuffer(bytes: bytes)
    compressed = (try? GzipWriter.compressed(bytes)).map { ByteBuffer(bytes: $0) }
    type = Self.type(ofName: String(cString: file.name))
    tag = "\"\(Hexadecimal.text(Digest.hash(bytes, .sha256)))\""
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
