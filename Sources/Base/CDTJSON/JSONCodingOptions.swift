/// Options for encoding and decoding Foundation types.
///
/// ```swift
/// var options = JSONCodingOptions()
/// options.dates = .secondsSince1970
/// let body = try JSONObject(encoding: task, options: options)
/// let copy = try body.decode(Todo.self, options: options)
/// ```
///
/// Decode a value with the options that it was encoded with.
public struct JSONCodingOptions: Sendable, Hashable {
  /// The encoding of a `Date`.
  public enum Dates: Sendable, Hashable {
    /// A string in UTC with milliseconds, such as `"2024-05-01T12:30:00.250Z"`.
    ///
    /// All strings have the same length, so their order, also in queries, is that of the dates. A date is rounded to
    /// milliseconds and must be in the years 0 to 9999. When decoding, the fraction may have any number of digits or
    /// be missing, and the time zone may be an offset such as `+02:00`.
    case iso8601
    /// The number of seconds since the start of 1970 in UTC.
    case secondsSince1970
    /// The number of milliseconds since the start of 1970 in UTC.
    case millisecondsSince1970
    /// The encoding of `Date` itself: the number of seconds since the start of 2001 in UTC.
    case deferred
  }

  /// The encoding of `Data`.
  public enum DataFormat: Sendable, Hashable {
    /// A Base64 string.
    case base64
    /// The encoding of `Data` itself: an array of numbers.
    case deferred
  }

  /// The encoding of a `Date`.
  public var dates: Dates

  /// The encoding of `Data`.
  public var data: DataFormat

  /// Creates options. The defaults are ISO 8601 dates and Base64 data.
  public init(dates: Dates = .iso8601, data: DataFormat = .base64) {
    self.dates = dates
    self.data = data
  }
}
