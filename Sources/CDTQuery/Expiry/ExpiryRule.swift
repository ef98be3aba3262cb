import CDTJSON

/// When documents expire: some time after the date in a field.
///
/// A date is text of ISO 8601, such as `2026-11-26T15:00:00Z`, or a number of seconds since 1970. A document with anything else there,
/// or without the field, does not expire.
struct ExpiryRule: Sendable, Hashable {
  private let path: FieldPath
  private let seconds: Double
  private let filter: QuerySelector?

  /// - Returns: `nil` for an index by which no documents expire.
  init?(_ definition: IndexDefinition) {
    guard let seconds = definition.expireAfter, let field = definition.fields.first else { return nil }
    path = field.fieldPath
    self.seconds = seconds
    filter = definition.filter
  }

  /// The time from which on a document has expired, in seconds since 1970; `nil` if it does not expire.
  func time(of document: DocumentBytes) -> Double? {
    guard path.documentField == nil, case .value(let offset) = path.singleValue(in: document.body),
      let date = Self.date(document.body, at: offset)
    else { return nil }
    // Only patterns fail, and a filter has none.
    if let filter, (try? Matcher(filter.clause).matches(document)) != true { return nil }
    return date + seconds
  }

  private static func date(_ body: JSONBytes, at offset: Int) -> Double? {
    switch body.kind(at: offset) {
    case .string:
      body.withStringBytes(at: offset) { bytes in
        bytes.count > longestDate
          ? nil : ISO8601.date(String(decoding: bytes, as: UTF8.self))?.timeIntervalSince1970
      }
    case .number:
      switch body.number(at: offset) {
      case .int(let int)?: Double(int)
      case .double(let double)? where double.isFinite: double
      default: nil
      }
    default: nil
    }
  }

  /// The bytes of text above which it is not parsed.
  private static let longestDate = 64
}
