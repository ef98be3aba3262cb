import CDTJSON

/// Objects that each have a document at a path, or several in arrays.
struct PathForm: JSONForm {
  let path: [String]

  func array(in input: InputBuffer) -> JSONContainer? { JSONContainer() }
  func notice(_ file: String) -> ImportNotice? { nil }
  func take(_ input: inout InputBuffer) -> JSONRole? { .document(path: path[...]) }

  /// Moves to the first element of the array or object at the path. From an array on the path on, the rest of it is followed in
  /// each element.
  ///
  /// - Returns: `nil` if the text has several objects: the whole path is followed in each.
  func enter(_ input: inout InputBuffer) throws -> JSONContainer? {
    if !path.isEmpty, try input.hasSeveralObjects(),
      !input.withBytes(nil, { PathDocuments.hasArray(JSONBytes($0), at: path) })
    {
      return nil
    }
    var container = JSONContainer()
    var rest = path[...]
    while let name = rest.first, try input.nextByte() != UInt8(ascii: "[") {
      try input.enterMember(name)
      rest.removeFirst()
      container.depth += 1
    }
    switch try input.nextByte() {
    case UInt8(ascii: "[")?: container.rest = rest
    case UInt8(ascii: "{")?: container.isObject = true
    default: throw ImportError("expected an array or an object of documents", at: input)
    }
    input.take(1)
    return container
  }
}
