package import Foundation

/// The location of the sources of this package, for tests that read them.
package enum Repository {
  package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A page of the documentation.
  package static func page(_ name: String) throws -> String {
    try String(contentsOf: root.appending(path: "docs/\(name)"), encoding: .utf8)
  }
}
