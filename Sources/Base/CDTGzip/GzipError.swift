/// An error of a gzip stream.
package enum GzipError: Error, Sendable, Hashable {
  /// The stream is not gzip, or is damaged.
  case corrupt
  /// The stream ends too early.
  case truncated
  /// The content is larger than allowed.
  case tooLarge(limit: Int64)
  /// There is not enough memory for the state of the compression.
  case outOfMemory
}

extension GzipError: CustomStringConvertible {
  /// The message: the problem, then the remedy.
  package var description: String {
    switch self {
    case .corrupt:
      "the data is not a valid gzip stream; compress it again, or send it without Content-Encoding"
    case .truncated: "the gzip stream is truncated; send it whole"
    case .tooLarge(let limit): "the content of the gzip stream has more than \(limit) bytes; send less"
    case .outOfMemory: "there is not enough memory for a gzip stream; try again later"
    }
  }
}
