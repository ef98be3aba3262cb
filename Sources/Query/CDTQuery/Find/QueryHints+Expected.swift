import CDTJSON
import CDTSelector

extension QueryHints {
  /// The types that a query requires of a field's values.
  struct Expected {
    let path: FieldPath
    private(set) var types: Set<JSONType>
    private var values: [JSONValue]
    let isSum: Bool
    /// The length of the vector from which the distances are.
    var vectorLength: Int?
    /// Whether documents are searched for the value in another type.
    private let seeksOther: Bool
    /// The types that the values of the documents have, with the first value of each.
    private(set) var found: [JSONType: JSONValue] = [:]
    private var isThere = false
    private var isConvertedThere = false
    /// The queried value in another type: what a string reads like, or the text of a number or boolean.
    private var converted: JSONValue?

    init(_ types: Set<JSONType>, of path: FieldPath, _ values: [JSONValue], isSum: Bool, seeksOther: Bool) {
      (self.types, self.path, self.isSum, self.seeksOther) = (types, path, isSum, seeksOther)
      self.values = []
      add(types, values)
    }

    mutating func add(_ types: Set<JSONType>, _ values: [JSONValue]) {
      self.types.formUnion(types)
      self.values += values
      switch value {
      case .string(let text)?: converted = try? JSONValue(parsing: text)
      case .array?, .object?, nil: converted = nil
      case let other?: converted = .string(other.text)
      }
    }

    /// The queried value, if there is one.
    private var value: JSONValue? {
      values.allSatisfy { $0 == values.first } ? values.first : nil
    }

    /// Adds the values of a document, and those in them if they are arrays.
    mutating func add(_ document: JSONBytes) {
      var walk = PathWalk(document, from: 0, through: path.segments)
      while let value = walk.next() {
        note(document, value)
        // A sum does not look into arrays.
        guard !isSum, document.kind(at: value) == .array else { continue }
        var elements = document.elements(at: value)
        while let element = elements.next() { note(document, element) }
      }
    }

    private mutating func note(_ document: JSONBytes, _ offset: Int) {
      guard let type = JSONType(document.kind(at: offset)) else { return }
      let value: JSONValue? =
        found[type] == nil || seeksOther && !isDecided ? document.value(at: offset) : JSONValue?.none
      if found[type] == nil { found[type] = value }
      guard seeksOther, let value else { return }
      isThere = isThere || value == self.value
      isConvertedThere = isConvertedThere || value == converted
    }

    var isMet: Bool { found.keys.contains(where: types.contains) }

    /// Whether further documents can't change the hint.
    var isDecided: Bool { isMet && (!seeksOther || converted == nil || isThere || isConvertedThere) }

    /// The length of the first array, or of the first array in it.
    var lengthOfVectors: Int? {
      let array = found[.array]?.arrayValue
      return (array?.first?.arrayValue ?? array)?.count
    }

    /// The value that the query probably means, as some documents have it in another type.
    var other: JSONValue? { isConvertedThere && !isThere ? converted : nil }

    /// The remedy for a value of a type that the documents don't have.
    var remedy: String? {
      if let advice = values.lazy.compactMap({ OperatorNames.instead(of: $0) }).first { return advice }
      if case .array(let elements)? = value, !elements.isEmpty,
        elements.allSatisfy({ found[JSONType(of: $0)] != nil })
      {
        return "did you mean {\"$in\":\(JSONValue.array(elements).text)}?"
      }
      return converted.flatMap { found[JSONType(of: $0)] == nil ? nil : "did you mean \($0.text)?" }
    }
  }
}
