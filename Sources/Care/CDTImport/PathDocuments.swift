import CDTJSON
import CDTPlatform

/// The documents at a path in an object, which are read one after another. From an array on, the rest of the path is followed in each element.
///
/// ```
/// {"_id": "1", "_source": {…}}   _source:   a document with the id "1"
/// {"Instances": [{…}, {…}]}      Instances: two documents
/// ```
struct PathDocuments {
  struct Place {
    /// The offset of the document in the text.
    let start: Int
    /// The `_id` of the object around it, unless there is an array between them.
    let id: String?
  }

  private var places: ArraySlice<Place> = []
  /// The length of the object, and the number of its bytes that are consumed.
  private let length: Int
  private var passed = 0

  /// - Parameter object: A valid object.
  /// - Returns: `nil` if the path leads to anything but objects.
  init?(_ object: UnsafeRawBufferPointer, at path: ArraySlice<String>) {
    length = object.count
    guard add(JSONBytes(object), 0, path, id: nil) else { return nil }
  }

  /// Moves to the next document. Behind the last, consumes the rest of the object.
  mutating func next(_ input: inout InputBuffer) -> Place? {
    let place = places.popFirst()
    let start = place?.start ?? length
    input.take(start - passed)
    passed = start
    return place
  }

  private mutating func add(_ text: JSONBytes, _ value: Int, _ path: ArraySlice<String>, id: String?) -> Bool
  {
    switch text.kind(at: value) {
    case .array:
      var elements = text.elements(at: value)
      while let element = elements.next() {
        guard add(text, element, path, id: nil) else { return false }
      }
      return true
    case .object:
      guard let name = path.first else {
        places.append(Place(start: value, id: id))
        return true
      }
      guard let member = text.member(spelled: JSONString.spelling(of: Array(name.utf8)), at: value) else {
        return false
      }
      let own = text.member(spelled: Array("_id".utf8), at: value).flatMap {
        text.kind(at: $0) == .string ? text.string(at: $0) : nil
      }
      return add(text, member, path.dropFirst(), id: own ?? id)
    default: return false
    }
  }

  /// Whether the path leads to an array, or through one.
  static func hasArray(_ text: JSONBytes, at path: [String]) -> Bool {
    var value = 0
    for name in path where text.kind(at: value) == .object {
      guard let member = text.member(spelled: JSONString.spelling(of: Array(name.utf8)), at: value) else {
        return false
      }
      value = member
    }
    return text.kind(at: value) == .array
  }
}
