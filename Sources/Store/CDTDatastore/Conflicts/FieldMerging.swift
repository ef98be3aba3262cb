import CDTJSON

/// The newest revision from which all leaves descend.
enum CommonAncestor {
  case revision(DocumentRevision)
  /// The leaves were created apart, from nothing or after a deletion.
  case empty
  /// Its content is not stored, or it is not known or not seen by the user.
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
  private let ancestor: CommonAncestor
  private let arrays: [KeyBytes: FieldMerge.ArrayRule]
  private(set) var conflicts: [FieldConflict] = []
  private var isAncestorKnown: Bool { ancestor.isKnown }

  /// - Parameter versions: At a conflict, the value is that of the first one that has changed the field.
  init(_ versions: [DocumentRevision], since ancestor: CommonAncestor, by rules: FieldMerge) {
    (self.versions, self.ancestor) = (versions, ancestor)
    arrays = Dictionary(rules.arrays.map { (KeyBytes($0.key), $0.value) }) { first, _ in first }
  }

  /// The first version with the body and the attachments of all; `nil` if there is no version.
  mutating func merged() -> DocumentRevision? {
    guard var merged = versions.first else { return nil }
    let base = ancestor.content
    let bodies = versions.map { JSONValue?.some(.object($0.body)) }
    merged.body = merge(bodies, since: .object(base?.body ?? [:]), at: Place())?.objectValue ?? merged.body
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
      let name = name.asPathSegment
      return Place(path: path + dot + name, rule: rule + dot + name)
    }

    func element(_ key: JSONValue) -> Place { Place(path: "\(path)[\(key.text)]", rule: rule + "[]") }

    func attachment(_ name: String) -> Place { Place(path: "_attachments.\(name)") }
  }

  private mutating func merge(_ values: [JSONValue?], since base: JSONValue?, at place: Place) -> JSONValue? {
    // Objects are not compared as a whole, which would take as long at each depth.
    if let objects = objects(values) { return .object(merge(values, objects, since: base, at: place)) }
    let changed = values.filter { $0 != base || !isAncestorKnown }
    if changed.count > 1 {
      if let objects = objects(changed) { return .object(merge(values, objects, since: base, at: place)) }
      // Equal arrays are kept as they are.
      if let rule = arrays[KeyBytes(place.rule)], changed.allSatisfy({ $0?.arrayValue != nil }),
        changed.contains(where: { $0 != changed[0] }),
        let merged = merge(
          values.map { $0?.arrayValue ?? [] }, since: base?.arrayValue ?? [], by: rule, at: place)
      {
        return .array(merged)
      }
    }
    return choose(values, since: base, at: place) { $0 }
  }

  private func objects(_ values: [JSONValue?]) -> [JSONObject]? {
    let objects = values.compactMap { $0?.objectValue }
    return objects.count == values.count ? objects : nil
  }

  /// - Parameter objects: The values that have the members.
  private mutating func merge(
    _ values: [JSONValue?], _ objects: [JSONObject], since base: JSONValue?, at place: Place
  ) -> JSONObject {
    var (seen, merged) = (Set<KeyBytes>(), JSONObject())
    for object in objects {
      for (name, _) in object where seen.insert(KeyBytes(name)).inserted {
        merged[name] = merge(
          values.map { $0?.objectValue?[name] }, since: base?.objectValue?[name], at: place.member(name))
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
      let orders = values.map { $0.compactMap { $0.objectValue?[name] } }
      guard all.count == values.count, let elements = Self.elements(base, by: name),
        let order = Self.order(of: orders, since: base.compactMap { $0.objectValue?[name] })
      else { return nil }
      return order.compactMap { key in
        merge(all.map { $0[key] }, since: elements[key], at: place.element(key))
      }
    }
  }

  /// The keys of all versions in one order: that of the ancestor or of the version that has changed it, with each key that was added
  /// behind the one that it follows.
  ///
  /// - Returns: `nil` if several have changed the order differently.
  private static func order(of orders: [[JSONValue]], since base: [JSONValue]) -> [JSONValue]? {
    let sets = orders.map(Set.init)
    let kept = Set(base.filter { key in sets.allSatisfy { $0.contains(key) } })
    func inAll(_ keys: [JSONValue]) -> [JSONValue] { keys.filter(kept.contains) }
    let changed = Set(orders.map(inAll)).subtracting([inAll(base)])
    guard changed.count <= 1 else { return nil }
    var (first, behind, seen) = ([JSONValue](), [JSONValue: [JSONValue]](), kept)
    for keys in orders {
      var (last, leading) = (JSONValue?.none, [JSONValue]())
      for key in keys {
        if !seen.insert(key).inserted {
          if last == nil, let place = first.firstIndex(of: key) {
            first.insert(contentsOf: leading, at: place)
            leading = []
          }
          last = key
        } else if let last {
          behind[last, default: []].append(key)
        } else {
          leading.append(key)
        }
      }
      first += leading
    }
    var (order, rest) = ([JSONValue](), Array((first + (changed.first ?? inAll(base))).reversed()))
    while let key = rest.popLast() {
      order.append(key)
      rest += (behind[key] ?? []).reversed()
    }
    return order
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
  /// The type, the digest and the length.
  var summary: JSONValue {
    var json: JSONObject = ["content_type": .string(contentType)]
    json["digest"] = digest.map { .string($0) }
    json["length"] = length.map { .int($0) }
    return .object(json)
  }
}
