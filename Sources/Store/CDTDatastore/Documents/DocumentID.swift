import CDTJSON
import CDTPlatform

/// The rules for document ids.
package enum DocumentID {
  /// Throws if an id is empty, or begins with an underscore and is not that of a design document.
  package static func check(_ id: String) throws(DatastoreError) {
    let bytes = id.utf8
    guard let first = bytes.first else { throw DatastoreError(.invalidID(id)) }
    if first == UInt8(ascii: "_"), !isDesign(id) || bytes.count == designPrefix.utf8.count {
      throw DatastoreError(.invalidID(id))
    }
  }

  /// The prefix of the ids of design documents.
  package static let designPrefix = "_design/"

  /// The end of the range of the ids of design documents.
  package static let designEnd = "_design0"

  /// Whether an id is one of a design document.
  package static func isDesign(_ id: String) -> Bool { id.hasBytePrefix(designPrefix) }

  package static func isDesign(_ id: UnsafeRawBufferPointer) -> Bool {
    // Queries ask for each row, so most ids are decided by their first byte.
    id.first == UInt8(ascii: "_") && id.starts(with: designPrefix.utf8)
  }

  /// Generates a unique id.
  package static func make() -> String {
    RandomID.uuid()
  }
}
