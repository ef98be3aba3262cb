import CDTJSON

/// The newest revision from which all leaves descend.
enum CommonAncestor {
  case revision(DocumentRevision)
  /// The leaves were created apart, from nothing.
  case empty
  /// Its content is not stored, or it is not known.
  case unknown

  var isKnown: Bool {
    if case .unknown = self { false } else { true }
  }

  var content: DocumentRevision? {
    if case .revision(let revision) = self { revision } else { nil }
  }
}

/// The merge of some versions of a document, with the fields that several have changed to different values.
struct FieldMerging {
  private let versions: [DocumentRevision]
  private let arrays: [String: FieldMerge.ArrayRule]
  private(set) var conflicts: [FieldConflict] = []
  private var isAncestorKnown = true

  /// - Parameter versions: The first is the one that is kept where there is a conflict and it has changed the field.
  init(_ versions: [DocumentRevision], rules: FieldMerge) {
    (self.versions, arrays) = (versions, rules.arrays)
  }

  /// The body and the attachments of the versions in one revision.
  mutating func merged(_ first: DocumentRevision, since ancestor: CommonAncestor) -> DocumentRevision {
    isAncestorKnown = ancestor.isKnown
    let base = ancestor.content
    var merged = first
    let bodies = versions.map { JSONValue?.some(.object($0.body)) }
    merged.body = merge(bodies, since: .object(base?.body ?? [:]), at: Place())?.objectValue ?? first.body
    let names = (versions + (base.map { [$0] } ?? [])).flatMap(\.attachments.names).map(KeyBytes.init)
    for name in Set(names).sorted(by: { $0.precedes($1) }).map(\.string) {
      merged.attachments[name] = choose(
        versions.map { $0.attachments[name] }, since: base?.attachments[name], at: Place().attachment(name)
      ) { $0.summary }
    }
    return merged
  }

  /// The place of a field, for a conflict and for the rules of arrays.
  private struct Place {
    /// `steps[3].tags`.
    var path = ""
    /// `steps[].tags`.
    var rule = ""

    func member(_ name: String) -> Place {
      let dot = path.isEmpty ? "" : "."
      let name = name.splitBytes(at: ".").joined(separator: "\\.")
      return Place(path: path + dot + name, rule: rule + dot + name)
    }

    func element(_ key: JSONValue) -> Place { Place(path: "\(path)[\(key.text)]", rule: rule + "[]") }

    func attachment(_ name: String) -> Place { Place(path: "_attachments.\(name)") }
  }

  private mutating func merge(_ values: [JSONValue?], since base: JSONValue?, at place: Place) -> JSONValue? {
    let changed = values.filter { $0 != base || !isAncestorKnown }
    if Set(changed).count > 1 {
      if let members = objects(changed) {
        return .object(merge(values, members, since: base?.objectValue ?? [:], at: place))
      }
      let elements = changed.compactMap { $0?.arrayValue }
      if let rule = arrays[place.rule], rule != .whole, elements.count == changed.count {
        let values = values.map { $0?.arrayValue ?? [] }
        if let merged = merge(values, since: base?.arrayValue ?? [], by: rule, at: place) {
          return .array(merged)
        }
      }
    }
    return choose(values, since: base, at: place) { $0 }
  }

  private func objects(_ values: [JSONValue?]) -> [JSONObject]? {
    let objects = values.compactMap { $0?.objectValue }
    return objects.count == values.count ? objects : nil
  }

  private mutating func merge(
    _ values: [JSONValue?], _ changed: [JSONObject], since base: JSONObject, at place: Place
  ) -> JSONObject {
    var (seen, merged) = (Set<KeyBytes>(), JSONObject())
    for object in changed {
      for (name, _) in object where seen.insert(KeyBytes(name)).inserted {
        merged[name] = merge(
          values.map { $0?.objectValue?[name] }, since: base[name], at: place.member(name))
      }
    }
    return merged
  }

  /// The value that was changed, or that of the first version which changed it.
  private mutating func choose<Value: Hashable>(
    _ values: [Value?], since base: Value?, at place: Place, _ json: (Value) -> JSONValue
  ) -> Value? {
    let changed = values.filter { $0 != base || !isAncestorKnown }
    guard let first = changed.first else { return values.first ?? nil }
    if Set(changed).count > 1 {
      let versions = zip(versions, values).map {
        FieldConflict.Version(revisionID: $0.revisionID, value: $1.map(json))
      }
      let base = isAncestorKnown ? base.map(json) : nil
      conflicts.append(FieldConflict(path: place.path, base: base, versions: versions))
    }
    return first
  }

  // MARK: Arrays

  /// - Returns: `nil` if the rule does not fit the elements.
  private mutating func merge(
    _ values: [[JSONValue]], since base: [JSONValue], by rule: FieldMerge.ArrayRule, at place: Place
  ) -> [JSONValue]? {
    switch rule {
    case .whole: return nil
    case .set:
      guard isAncestorKnown else { return nil }
      let (sets, base) = (values.map(Set.init), Set(base))
      var seen = Set<JSONValue>()
      return values.joined().filter { element in
        guard seen.insert(element).inserted else { return false }
        return !base.contains(element) || sets.allSatisfy { $0.contains(element) }
      }
    case .keyed(let name):
      let all = values.compactMap { Self.elements($0, by: name) }
      guard all.count == values.count, let base = Self.elements(base, by: name) else { return nil }
      var (seen, merged) = (Set<JSONValue>(), [JSONValue]())
      for key in values.joined().compactMap({ $0.objectValue?[name] }) where seen.insert(key).inserted {
        let element = merge(all.map { $0[key] }, since: base[key], at: place.element(key))
        if let element { merged.append(element) }
      }
      return merged
    }
  }

  /// The elements by their keys; `nil` if they don't have one each.
  private static func elements(_ array: [JSONValue], by name: String) -> [JSONValue: JSONValue]? {
    var elements: [JSONValue: JSONValue] = [:]
    for element in array {
      guard let key = element.objectValue?[name], elements.updateValue(element, forKey: key) == nil else {
        return nil
      }
    }
    return elements
  }
}

extension DocumentAttachment {
  fileprivate var summary: JSONValue {
    var json: JSONObject = ["content_type": .string(contentType)]
    json["digest"] = digest.map { .string($0) }
    json["length"] = length.map { .int($0) }
    return .object(json)
  }
}
