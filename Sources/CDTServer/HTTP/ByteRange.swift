import CDTPlatform
import CouchDB

/// The bytes that the header `Range` asks for. Of several ranges, and of units other than bytes, none is served, and the
/// whole is sent, as RFC 9110 allows. As at CouchDB, `bytes=0-` is the whole.
struct ByteRange: Sendable, Equatable {
  let bytes: Range<Int64>
  let isPartial: Bool

  private init(_ bytes: Range<Int64>, isPartial: Bool) {
    self.bytes = bytes
    self.isPartial = isPartial
  }

  /// - Throws: `CouchError` with the status 416 if the range is behind the end.
  init(_ header: String?, length: Int64) throws(CouchError) {
    self.init(0..<length, isPartial: false)
    guard let header, header.hasPrefix("bytes="), !header.contains(",") else { return }
    let parts = header.dropFirst("bytes=".count).split(
      separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return }
    let (first, last) = (Self.number(parts[0]), Self.number(parts[1]))
    switch (parts[0].isEmpty, first, parts[1].isEmpty, last) {
    case (false, 0?, true, _): return
    case (false, let first?, true, _): self = try Self.part(first, length - 1, of: length)
    case (false, let first?, false, let last?): self = try Self.part(first, min(last, length - 1), of: length)
    case (true, _, false, let count?) where count > 0:
      self = try Self.part(max(0, length - count), length - 1, of: length)
    case (true, _, false, 0?): throw .rangeNotSatisfiable
    default: return
    }
  }

  private static func part(_ first: Int64, _ last: Int64, of length: Int64) throws(CouchError) -> ByteRange {
    guard first < length, first <= last else { throw .rangeNotSatisfiable }
    return ByteRange(first..<last + 1, isPartial: true)
  }

  /// A number of digits; the greatest one if it is greater.
  private static func number(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
    return Int64(text) ?? .max
  }

  /// The header `Content-Range`; `nil` for the whole.
  func contentRange(of length: Int64) -> String? {
    isPartial ? "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length)" : nil
  }
}

extension CouchError {
  fileprivate static let rangeNotSatisfiable = CouchError(
    416, "requested_range_not_satisfiable", "Requested range not satisfiable")
}
