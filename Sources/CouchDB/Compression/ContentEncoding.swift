/// How the bytes of an attachment are encoded.
package enum ContentEncoding: String, Sendable, Hashable {
  case identity
  case gzip
}
