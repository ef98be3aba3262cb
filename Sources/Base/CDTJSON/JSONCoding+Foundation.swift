import CDTPlatform

// Foundation types with their own encoding here. The type is compared first, which costs less than a cast of every
// encoded value.

extension ValueEncoder {
  /// Encodes a value if it has such a type, and returns whether it does.
  func encodeFoundation<T: Encodable>(_ value: T) throws -> Bool {
    if T.self == Date.self, let date = value as? Date {
      guard options.dates != .deferred else { return false }
      slot.content = .value(try encoded(date))
    } else if T.self == Data.self, let data = value as? Data {
      guard options.data != .deferred else { return false }
      slot.content = .value(.string(data.base64EncodedString()))
    } else if T.self == URL.self, let url = value as? URL {
      slot.content = .value(.string(url.absoluteString))
    } else if T.self == Decimal.self, let decimal = value as? Decimal {
      guard !decimal.isNaN else {
        throw invalid(decimal, "JSON has no NaN; encode it as null or as a string")
      }
      guard let number = decimal.exactNumber else {
        throw invalid(
          decimal,
          "the decimal \(decimal) has more digits than a number in JSON keeps, which is about 15; round it, or encode its "
            + "description as a string")
      }
      slot.content = .value(number)
    } else {
      return false
    }
    return true
  }

  /// Errors contain the seconds instead of the date, as the description of a date that is not finite traps.
  private func encoded(_ date: Date) throws -> JSONValue {
    let seconds = date.timeIntervalSince1970
    guard seconds.isFinite else {
      throw invalid(seconds, "the date is not finite; encode a finite one, or null")
    }
    switch options.dates {
    case .secondsSince1970, .deferred: return .double(seconds)
    case .millisecondsSince1970: return .double(1_000 * seconds)
    case .iso8601:
      guard let text = ISO8601.text(of: date) else {
        throw invalid(
          date, "the date is outside of the years 0 to 9999 of ISO 8601; encode it as seconds")
      }
      return .string(text)
    }
  }
}

extension ValueDecoder {
  /// Decodes a value of such a type; `nil` for any other type.
  func decodeFoundation<T: Decodable>(_ type: T.Type) throws -> T? {
    if type == Date.self, options.dates != .deferred { return try date() as? T }
    if type == Data.self, options.data != .deferred { return try data() as? T }
    if type == URL.self { return try url() as? T }
    if type == Decimal.self { return try decimal() as? T }
    return nil
  }

  private func date() throws -> Date {
    switch options.dates {
    case .iso8601:
      let text = try string(Date.self)
      guard let date = ISO8601.date(text) else {
        throw corrupted("\"\(text)\" is not a date in ISO 8601, such as 2024-05-01T12:30:00Z")
      }
      return date
    case .secondsSince1970, .deferred: return Date(timeIntervalSince1970: try number(Date.self))
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try number(Date.self) / 1_000)
    }
  }

  private func data() throws -> Data {
    guard let bytes = Base64.decode(try string(Data.self)) else {
      throw corrupted("the string is not in Base64")
    }
    return Data(bytes)
  }

  private func url() throws -> URL {
    let text = try string(URL.self)
    guard let url = URL(string: text) else { throw corrupted("\"\(text)\" is not a URL") }
    return url
  }

  private func decimal() throws -> Decimal {
    switch value {
    case .int, .double, .spelled, .string: break
    default: throw mismatch(Decimal.self, "a number")
    }
    guard let decimal = Decimal(nearest: value) else { throw corrupted("\(value) is not a decimal number") }
    return decimal
  }

  private func string(_ type: any Any.Type) throws -> String {
    guard case .string(let string) = value else { throw mismatch(type, "a string") }
    return string
  }

  private func number(_ type: any Any.Type) throws -> Double {
    guard let double = value.doubleValue else { throw mismatch(type, "a number") }
    return double
  }
}

extension Decimal {
  /// The number, if a 64-bit integer or a double keeps every digit, as numbers are compared and summed as one of these.
  fileprivate var exactNumber: JSONValue? {
    guard let value = try? JSONValue(parsing: description) else { return nil }
    guard case .spelled(let number) = value else { return value }
    let double = JSONValue.double(number.doubleValue)
    guard Decimal(nearest: double) == self else { return nil }
    return number.isInteger ? value : double
  }

  /// The nearest decimal of a number or a numeric string; `nil` for anything else and for values out of range.
  fileprivate init?(nearest value: JSONValue) {
    if case .string(let text) = value {
      // The parser accepts spaces around a number, which are invalid here; Decimal's parser accepts any trailing text.
      guard !text.contains(where: \.isWhitespace), let number = try? JSONValue(parsing: text),
        number.doubleValue != nil
      else { return nil }
      self.init(string: text)
    } else {
      self.init(string: value.text)
    }
  }
}
