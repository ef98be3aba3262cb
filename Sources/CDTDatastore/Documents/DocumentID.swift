import FoundationEssentials

/// The rules for document ids.
package enum DocumentID {
  /// Throws if an id is empty, or begins with an underscore and is not that of a design document.
  package static func check(_ id: String) throws(DatastoreError) {
    let bytes = id.utf8
    guard let first = bytes.first else { throw .invalidID(id) }
    if first == UInt8(ascii: "_"),
      !bytes.starts(with: "_design/".utf8) || bytes.count == "_design/".utf8.count
    {
      throw .invalidID(id)
    }
  }

  /// Generates a unique id.
  package static func make() -> String {
    UUID().uuidString.lowercased()
  }
}
