package import Foundation

/// Where the sources of this package lie, for tests that read its documentation.
package enum Repository {
  package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A page of the documentation.
  package static func page(_ name: String) throws -> String {
    try String(contentsOf: root.appending(path: "docs/\(name)"), encoding: .utf8)
  }
}
