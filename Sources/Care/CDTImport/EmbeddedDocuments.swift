import CDTDatastore
import CDTJSON
import CDTPlatform

/// Documents that one object may have in it.
enum EmbeddedDocuments {
  /// Arrays of several objects.
  case arrays([EmbeddedArray])
  /// Every member is an object, and they have names in common.
  case members(count: Int)

  struct EmbeddedArray: Hashable {
    let name: String
    let count: Int
  }

  init?(_ text: JSONBytes) {
    var arrays: [EmbeddedArray] = []
    var (members, objects) = (0, 0)
    var common: Set<String>?
    var iterator = text.members(at: 0)
    while let member = iterator.next() {
      members += 1
      switch text.kind(at: member.value) {
      case .array:
        if let count = Self.countOfObjects(text, member.value) {
          arrays.append(EmbeddedArray(name: text.string(at: member.keyStart - 1), count: count))
        }
      case .object:
        objects += 1
        if common?.isEmpty != true {
          let names = Self.names(text, member.value)
          common = common.map { $0.intersection(names) } ?? names
        }
      default: break
      }
    }
    if members > 1, objects == members, common?.isEmpty == false {
      self = .members(count: members)
    } else if !arrays.isEmpty {
      self = .arrays(arrays)
    } else {
      return nil
    }
  }

  private static func names(_ text: JSONBytes, _ start: Int) -> Set<String> {
    var names: Set<String> = []
    var members = text.members(at: start)
    while let member = members.next() { names.insert(text.string(at: member.keyStart - 1)) }
    return names
  }

  /// The number of elements if there are several and all are objects.
  private static func countOfObjects(_ text: JSONBytes, _ start: Int) -> Int? {
    var count = 0
    var elements = text.elements(at: start)
    while let element = elements.next() {
      guard text.kind(at: element) == .object else { return nil }
      count += 1
    }
    return count > 1 ? count : nil
  }
}
