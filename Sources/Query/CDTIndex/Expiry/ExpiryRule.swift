import CDTJSON

/// The rule by which documents expire: some time after the date in a field.
///
/// A date is text of ISO 8601, such as `2026-11-26T15:00:00Z`, or a number of seconds or milliseconds since 1970. A document with anything
/// else there, or without the field, does not expire.
struct ExpiryRule: Sendable, Hashable {
  private let path: FieldPath
  private let seconds: Double
  /// The number of units per second, for dates that are numbers.
  private let unit: Double
  private let filter: QuerySelector?

  /// - Returns: `nil` for an index by which no documents expire.
  init?(_ definition: IndexDefinition) {
    guard let seconds = definition.options.expireAfter, let field = definition.fields.first else {
      return nil
    }
    path = field.fieldPath
    self.seconds = seconds
    unit = definition.options.isInMilliseconds ? 1_000 : 1
    filter = definition.filter
  }

  /// The time from which on a document has expired, in seconds since 1970; `nil` if it does not expire.
  func time(of document: DocumentBytes) -> Double? {
    guard let offset = place(in: document), let date = date(document.body, at: offset), holds(document) else {
      return nil
    }
    return date + seconds
  }

  /// The position of a value that is probably meant as a date, but is not a date or is thousands of years from now; `nil` if there is
  /// no such value.
  func mistake(in document: DocumentBytes) -> Int? {
    guard let offset = place(in: document), document.body.kind(at: offset) != .null,
      date(document.body, at: offset).map({ $0 >= Self.farthest }) ?? true, holds(document)
    else { return nil }
    return offset
  }

  private func place(in document: DocumentBytes) -> Int? {
    guard path.documentField == nil, case .value(let offset) = path.singleValue(in: document.body) else {
      return nil
    }
    return offset
  }

  private func holds(_ document: DocumentBytes) -> Bool {
    // Only patterns fail, and a filter has none.
    filter.map { (try? Matcher($0.clause).matches(document)) == true } ?? true
  }

  private func date(_ body: JSONBytes, at offset: Int) -> Double? {
    switch body.kind(at: offset) {
    case .string:
      body.withStringBytes(at: offset) { bytes in
        bytes.count > Self.longestDate
          ? nil : ISO8601.date(String(decoding: bytes, as: UTF8.self))?.timeIntervalSince1970
      }
    case .number:
      switch body.number(at: offset) {
      case .int(let int)?: Double(int) / unit
      case .double(let double)? where double.isFinite: double / unit
      default: nil
      }
    default: nil
    }
  }

  /// The bytes of text above which it is not parsed.
  private static let longestDate = 64
  /// The year 5138: a number of milliseconds that is taken for seconds is later.
  private static let farthest = 1e11
}
