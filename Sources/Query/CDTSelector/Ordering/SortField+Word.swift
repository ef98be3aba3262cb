import CDTJSON

// Fields as words of a command line and of golden files:
//
//   age          ascending
//   age:desc     descending
//   n:-1:asc     the field "n:-1", ascending
extension SortField {
  /// Parses a word: only a trailing `:asc` or `:desc` is a direction.
  ///
  /// - Throws: ``QueryError`` for a word that looks like a direction in another spelling, like several fields or like JSON.
  ///   As a name, it would be the name of a field that no document has. A direction after it makes it a name.
  package init(word: String, at place: String) throws(QueryError) {
    if word.hasSuffix(":\(Direction.ascending.rawValue)") {
      self.init(String(word.dropLast(Direction.ascending.rawValue.count + 1)), .ascending)
    } else if word.hasSuffix(":\(Direction.descending.rawValue)") {
      self.init(String(word.dropLast(Direction.descending.rawValue.count + 1)), .descending)
    } else if let doubt = WordDoubt(word) {
      throw QueryError(.doubtfulField(word, doubt), at: place)
    } else {
      self.init(word)
    }
  }

  /// Parses the words of an index or a sort.
  package static func fields(words: [String], at place: String) throws(QueryError) -> [SortField] {
    var fields: [SortField] = []
    for (number, word) in words.enumerated() {
      fields.append(try SortField(word: word, at: "\(place)[\(number)]"))
    }
    return fields
  }

  /// The field as a word, which parses as the same field.
  package var word: String {
    if direction == .descending { return path + ":desc" }
    let isPlain = !path.hasSuffix(":asc") && !path.hasSuffix(":desc") && WordDoubt(path) == nil
    return isPlain ? path : path + ":asc"
  }
}

/// The reason why a word is probably not the name of a field.
package enum WordDoubt: Equatable {
  /// `age:DESC`, `age:-1`, `"age desc"`: what was probably meant.
  case direction(meant: String)
  /// `a,b`: the fields.
  case several([String])
  /// `" age"`: the name without spaces around it.
  case spaces(meant: String)
  /// `{"age": -1}`, `["age"]`, `"age"`.
  case json

  /// - Returns: `nil` for a word that can be a name.
  init?(_ word: String) {
    let trimmed = word.withoutOuterSpaces
    if ["{}", "[]", "\"\""].contains(where: { trimmed.utf8.count > 1 && Self.encloses($0, trimmed) }) {
      self = .json
    } else if word.utf8.contains(UInt8(ascii: ",")) {
      self = .several(word.splitBytes(at: ",").map(\.withoutOuterSpaces).filter { !$0.isEmpty })
    } else if let meant = Self.direction(trimmed) {
      self = .direction(meant: meant)
    } else if !trimmed.isEmpty, trimmed.utf8.count < word.utf8.count {
      self = .spaces(meant: trimmed)
    } else {
      return nil
    }
  }

  private static func encloses(_ brackets: String, _ word: String) -> Bool {
    brackets.utf8.first == word.utf8.first && brackets.utf8.last == word.utf8.last
  }

  private static let descending: Set<String> = ["desc", "descending", "dsc", "-1"]
  private static let ascending: Set<String> = ["asc", "ascending", "1", "+1"]

  /// The correct spelling of a word that has a direction in another spelling; `nil` if it has none.
  private static func direction(_ word: String) -> String? {
    let separators: Set<UInt8> = [UInt8(ascii: ":"), UInt8(ascii: " "), UInt8(ascii: "=")]
    guard let separator = word.utf8.lastIndex(where: separators.contains) else { return nil }
    let name = String(decoding: word.utf8[..<separator], as: UTF8.self).withoutOuterSpaces
    let direction = String(decoding: word.utf8[word.utf8.index(after: separator)...], as: UTF8.self)
      .lowercased()
    guard !name.isEmpty else { return nil }
    if descending.contains(direction) { return name + ":desc" }
    return ascending.contains(direction) ? name + ":asc" : nil
  }
}

extension String {
  /// The string without spaces at its ends.
  package var withoutOuterSpaces: String {
    let space = UInt8(ascii: " ")
    let bytes = utf8.drop { $0 == space }
    let end = bytes.lastIndex { $0 != space }.map(bytes.index(after:)) ?? bytes.startIndex
    return String(decoding: bytes[..<end], as: UTF8.self)
  }
}
