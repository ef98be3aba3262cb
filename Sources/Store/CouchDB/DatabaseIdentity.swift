package import CDTDatastore
import CDTPlatform

/// The settings that a server keeps with a database, in a local document whose id no client can use.
package enum DatabaseIdentity {
  /// The id of the local document.
  package static let id = "\u{1}server"
  /// The member with the time at which a server first saw the database, in microseconds since 1970. It is a part of every sequence, so
  /// that clients begin again if the database was deleted and made again.
  package static let created = "created"

  /// A new value of the member.
  package static func now() -> String {
    String(Int64(Date.now.timeIntervalSince1970 * 1_000_000))
  }

  /// A local document for a copy of the database, whose sequences are other ones.
  package static func renewed(_ document: LocalDocument, withID id: String) -> LocalDocument {
    var document = document
    if id.hasSameBytes(as: self.id) { document.body[created] = .string(now()) }
    return document
  }
}
