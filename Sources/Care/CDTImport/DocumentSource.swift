import CDTDatastore
import CDTJSON
import CDTPlatform

/// Reads documents from a file, one at a time.
protocol DocumentSource {
  /// Reads the next document and leaves its texts in `normalizer`.
  ///
  /// - Returns: Its place, or `nil` after the last document.
  /// - Throws: ``ImportError`` for an invalid document; `DatastoreError` if the file can't be read.
  mutating func next(_ normalizer: inout JSONNormalizer) throws -> SourcePlace?

  /// Continues after an invalid document; `false` if the start of the next one is unknown.
  mutating func recover() throws -> Bool

  /// Whether the last error, or an incomplete last document, is due to the end of the text, as in a file of which only the
  /// beginning is there.
  var isCut: Bool { get }

  /// The number of bytes read.
  var taken: Int64 { get }

  /// Returns the notices about the text since the last call.
  mutating func takeNotices() -> [ImportNotice]
}

/// The place of a document in the input.
struct SourcePlace {
  let file: String
  let line: Int
  /// The name of a member that is a document, which serves as its id.
  var name: String?
  /// Whether it stood in a wrapper of CouchDB.
  var isWrapped = false
}
