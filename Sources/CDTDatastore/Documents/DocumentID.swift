import FoundationEssentials

/// The rules for ids of documents.
package enum DocumentID {
  /// Refuses an id that is empty, or begins with an underscore and is no design document's.
  package static func check(_ id: String) throws(DatastoreError) {
    let bytes = id.utf8
    guard let first = bytes.first else { throw .invalidID(id) }
    if first == UInt8(ascii: "_"),
      !bytes.starts(with: "_design/".utf8) || bytes.count == "_design/".utf8.count
    {
      throw .invalidID(id)
    }
  }

  /// An id that no other document has.
  package static func make() -> String {
    UUID().uuidString.lowercased()
  }
}
