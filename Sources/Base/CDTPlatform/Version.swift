/// The version of the package.
package enum Version {
  /// `0.3.0-dev` is what will be 0.3.0. The first heading of `CHANGELOG.md` has the same.
  package static let current = "0.3.0-dev"
}
