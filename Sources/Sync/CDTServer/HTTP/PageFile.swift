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
    let bytes = Self.withoutComments(UnsafeBufferPointer(start: file.bytes, count: file.length))
    content = ByteBuffer(bytes: bytes)
    compressed = (try? bytes.withUnsafeBufferPointer { try GzipWriter.compressed($0) }).map {
      ByteBuffer(bytes: $0)
    }
    type = Self.type(ofName: String(cString: file.name))
    tag = "\"\(Hexadecimal.text(Digest.hash(bytes, .sha256)))\""
  }

  /// The content without indentation and lines that are comments, which are a sixth of it. The lines keep their numbers.
  ///
  /// No text of the page goes on in another line.
  private static func withoutComments(_ source: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var isComment = false
    let lines = source.split(separator: 0x0A, omittingEmptySubsequences: false).map {
      line -> Slice<UnsafeBufferPointer<UInt8>> in
      let text = line.drop { $0 == 0x20 }
      isComment = isComment || text.starts(with: "/*".utf8)
      defer { if text.suffix(2).elementsEqual("*/".utf8) { isComment = false } }
      return isComment || text.starts(with: "//".utf8) ? text.prefix(0) : text
    }
    return Array(lines.joined(separator: [0x0A]))
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
