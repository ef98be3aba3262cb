import CDTDatastore
import CDTJSON
import CDTPlatform

/// A kind of file that import can't read, by its first bytes.
enum FileKind: CaseIterable {
  // A workbook is compressed by zip.
  case workbook, zip, bzip2, xz, zstandard, utf16, sqlite, parquet

  static let longestMark = 64

  /// - Returns: `nil` for text, or what may be text.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let kind = Self.allCases.first(where: { $0.marks.contains { bytes.starts(with: $0) } }) else {
      return nil
    }
    self = kind
    // The name of the first file in it.
    let name = bytes.dropFirst(30)
    let names = ["[Content_Types].xml", "_rels/", "xl/", "docProps/", "mimetypeapplication/vnd.oasis"]
    if kind == .zip, names.contains(where: { name.starts(with: $0.utf8) }) { self = .workbook }
  }

  private var marks: [[UInt8]] {
    switch self {
    case .workbook: [[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]]
    case .zip: [[0x50, 0x4B, 0x03, 0x04]]
    case .bzip2: [Array("BZh".utf8)]
    case .xz: [[0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]]
    case .zstandard: [[0x28, 0xB5, 0x2F, 0xFD]]
    case .utf16: [[0xFF, 0xFE], [0xFE, 0xFF]]
    case .sqlite: [Array("SQLite format 3\0".utf8)]
    case .parquet: [Array("PAR1".utf8)]
    }
  }

  var message: String {
    switch self {
    case .workbook: "the file is a workbook, as Excel writes it; save its table as CSV in UTF-8"
    case .parquet: "the file is Parquet; convert it to CSV or JSON Lines, as with DuckDB"
    case .zip: "the file is compressed by zip; unpack it first, as with unzip -p"
    case .bzip2: "the file is compressed by bzip2; unpack it first, as with bzip2 -dc"
    case .xz: "the file is compressed by xz; unpack it first, as with xz -dc"
    case .zstandard: "the file is compressed by zstd; unpack it first, as with zstd -dc"
    case .utf16: "the text is UTF-16; convert it to UTF-8, as with iconv -f UTF-16 -t UTF-8"
    case .sqlite:
      "the file is an SQLite database; a datastore of CDTDatastore 2.x is imported with --from-touchdb"
    }
  }
}
