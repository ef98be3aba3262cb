import CDTJSON

/// Rejects values of a selector created in code that JSON text can't represent: infinity, NaN, and values nested too
/// deeply.
enum ValueCheck {
  static func check(_ selector: JSONObject) throws(QueryError) {
    guard let (fault, keys) = fault(in: .object(selector), depth: 1) else { return }
    // The path of a value nested too deeply is too long to show.
    let path = keys.reversed().reduce("") { path, key in
      key.hasPrefix("[") ? path + key : SelectorParser.join(path, key)
    }
    throw fault == .depth ? QueryError(.valueTooDeep, at: keys.last ?? "") : QueryError(.notANumber, at: path)
  }

  private enum Fault {
    case number, depth
  }

  /// The error and the path to it, from the inside out.
  private static func fault(in value: JSONValue, depth: Int) -> (Fault, keys: [String])? {
    if case .double(let double) = value { return double.isFinite ? nil : (.number, []) }
    switch value {
    case .array, .object:
      guard depth <= JSONParsingOptions().maximumDepth else { return (.depth, []) }
    default: return nil
    }
    for (number, element) in (value.arrayValue ?? []).enumerated() {
      if let (fault, keys) = fault(in: element, depth: depth + 1) { return (fault, keys + ["[\(number)]"]) }
    }
    for (key, member) in value.objectValue ?? [:] {
      if let (fault, keys) = fault(in: member, depth: depth + 1) { return (fault, keys + [key]) }
    }
    return nil
  }
}
