package import CDTJSON
import CDTRules

/// The meaning of a design document of CouchDB to a datastore: the indexes that it defines, and notes on members that are
/// stored and never used.
///
/// ```json
/// {"_id": "_design/people", "language": "query",
///  "views": {"by_age": {"map": {"fields": {"age": "asc"}}, "reduce": "_count", "options": {"def": {"fields": ["age"]}}}}}
/// ```
///
/// This defines the index `_design/people/by_age`. A text index is a member of `indexes` in place of `views`.
package struct DesignDocument: Sendable {
  /// The indexes that it defines, named by its id and their own names.
  package private(set) var indexes: [IndexDefinition] = []
  /// The views that are made of fields, by their own names. Their summaries are among the indexes.
  package private(set) var views: [String: DesignView] = [:]
  /// Notes on members that are never used, each as a sentence.
  package private(set) var notes: [String] = []
  /// The paths of functions and rules that are not enforced, although an app may rely on them to protect documents.
  private var unenforced: [String] = []
  /// The error of its rules. Until they are repaired, nothing can be written where rules are enforced.
  package private(set) var ruleError: QueryError?

  /// The value of `language` for indexes.
  package static let language: JSONValue = "query"

  package init(id: String, body: JSONObject) {
    let definesIndexes = body["language"] == Self.language
    for function in DesignFunction.allCases
    where !(definesIndexes && DesignFunction.queries.contains(function)) {
      if function == .validation, body[function.rawValue]?.objectValue?.isEmpty == false {
        noteUnenforced(function.rawValue)
        continue
      }
      let paths = function.paths(in: body)
      notes += paths.map(function.note)
      if function.isProtection { unenforced += paths }
    }
    guard definesIndexes else {
      if body["read"]?.arrayValue != nil { noteUnenforced("read") }
      return
    }
    do throws(QueryError) {
      try DesignRules.check(body, of: id)
    } catch {
      ruleError = error
      notes.append("Nothing can be written where its rules are enforced and can't be read: \(error)")
    }
    for kind in ["views", "indexes"] {
      for (name, definition) in body[kind]?.objectValue ?? [:] {
        let type: IndexType =
          kind == "views" ? .json : definition["index"]?["vector"] == nil ? .text : .vector
        do throws(QueryError) {
          let index = try Self.index(name, type, definition, of: id)
          indexes.append(index)
          if let unknown = Self.unknownMember(of: definition[type == .json ? "map" : "index"] ?? .null, type)
          {
            notes.append(
              "The index \(JSONValue.string(name).text) has a member \(JSONValue.string(unknown).text) that is ignored: "
                + "\(Self.knownMembers(type)).")
          }
          guard index.groupedFields != nil, let reduce = DesignView.reduce(of: definition) else { continue }
          views[name] = DesignView(summary: index, reduce: reduce)
        } catch {
          notes.append("The index \(JSONValue.string(name).text) is stored and not made: \(error.message).")
        }
      }
    }
  }

  /// Notes a rule that is not enforced, as the document lacks the language of queries.
  private mutating func noteUnenforced(_ rule: String) {
    notes.append(
      "`\(rule)` is a rule that is not enforced, as the document has no \"language\": \"query\"; add it.")
    unenforced.append(rule)
  }

  /// A warning of the functions and rules that are not enforced; `nil` if there are none.
  var unenforcedNote: String? {
    if unenforced.isEmpty { return nil }
    let names = unenforced.map { "`\($0)`" }.joined(separator: ", ")
    return "stored and not enforced: \(names); see docs/moving-from-couchdb.md"
  }

  private static func index(
    _ name: String, _ type: IndexType, _ view: JSONValue, of id: String
  ) throws(QueryError) -> IndexDefinition {
    let body = view[type == .json ? "map" : "index"] ?? .null
    let type = type == .json && body["type"] == "place" ? .place : type
    var json = try json(ofCouchDB: body, type)
    (json["name"], json["ddoc"]) = (.string(Self.name(of: name, in: id)), .string(id))
    if type == .json, let reduce = DesignView.reduce(of: view) {
      let value = try DesignView.value(body, reduce)
      let fields = json["fields"]?.arrayValue ?? []
      json["where"] = .object(
        DesignView.filter(
          try SortField.fields(fields, at: "fields").map(\.path) + value, and: json["where"] ?? .null))
      json["sum"] = .array(value.map { .string($0) })
      json["fields"] = .array(fields + value.map { .string($0) })
    }
    return try IndexDefinition(json: json)
  }

  /// The JSON of `IndexDefinition` of an index as `_index` and design documents have it.
  ///
  /// - Throws: ``QueryError`` for a filter that is not an object.
  package static func json(ofCouchDB index: JSONValue, _ type: IndexType) throws(QueryError) -> JSONObject {
    for name in [formerPartialFilter, IndexOptions.Name.filter.couchName] {
      guard let filter = index[name], filter != .null, filter.objectValue == nil else { continue }
      throw QueryError(.notAnObject(filter), at: name)
    }
    var json: JSONObject = ["type": .string(type.rawValue)]
    switch index["fields"] {
    case .object(let members)?: json["fields"] = .array(members.map { .object([$0: $1]) })
    // A field of a text index of CouchDB has a type, which has no meaning here.
    case .array(let clauses)?:
      json["fields"] = .array(
        clauses.map { type != .text || $0["type"] == nil ? $0 : $0["name"] ?? $0 })
    default: break
    }
    json["where"] = index[formerPartialFilter]
    for option in IndexOptions.Name.allCases where option != .sum {
      if let value = index[option.couchName] { json[option.rawValue] = value }
    }
    return json
  }

  /// The opposite of ``json(ofCouchDB:_:)``.
  package static func couchDB(_ json: JSONObject) -> JSONObject {
    var index = JSONObject()
    index["fields"] = json["fields"]
    index["tokenize"] = json["settings"]?["tokenize"]
    for option in IndexOptions.Name.allCases {
      if let value = json[option.rawValue] { index[option.couchName] = value }
    }
    return index
  }

  /// The members of an index that are meant for an index of a type.
  private static func members(_ type: IndexType) -> [String] {
    ["fields"] + IndexOptions.Name.allCases.filter { $0.isCouchDB(type) }.map(\.couchName)
  }

  /// Members that are also known: the former name of the filter, the value of a view, and what CouchDB's text indexes have and is
  /// without effect here.
  private static func otherMembers(_ type: IndexType) -> [String] {
    switch type {
    case .json, .place: [formerPartialFilter, "value", "type"]
    case .text:
      [formerPartialFilter, "default_field", "default_analyzer", "analyzer", "index_array_lengths"]
    case .vector: [formerPartialFilter]
    }
  }

  /// A member of an index that has no meaning: it may be a misspelled one.
  package static func unknownMember(of index: JSONValue, _ type: IndexType) -> String? {
    let known = members(type) + otherMembers(type)
    return index.objectValue?.first { member in !known.contains { $0.hasSameBytes(as: member.key) } }?.key
  }

  /// The members of an index, for messages.
  package static func knownMembers(_ type: IndexType) -> String {
    "use \(members(type).dropLast().joined(separator: ", ")) or \(members(type).last ?? "")"
  }

  private static let formerPartialFilter = "selector"

  /// The name of an index in the datastore.
  package static func name(of index: String, in id: String) -> String { "\(id)/\(index)" }

  /// Adds an index to the body of a design document, or replaces the one of this name.
  package static func add(_ definition: IndexDefinition, named name: String, to body: inout JSONObject) {
    body["language"] = language
    let kind = definition.type.isOrdered ? "views" : "indexes"
    var members = body[kind]?.objectValue ?? [:]
    var index = couchDB(definition.json)
    if definition.type.isOrdered {
      if definition.type == .place { index["type"] = .string(definition.type.rawValue) }
      let directions = definition.fields.map { ($0.path, JSONValue.string($0.isDescending ? "desc" : "asc")) }
      index["fields"] = .object(JSONObject(directions))
      members[name] = [
        "map": .object(index), "reduce": "_count", "options": ["def": ["fields": definition.fieldsJSON]],
      ]
    } else {
      members[name] = ["index": .object(index)]
    }
    body[kind] = .object(members)
  }

  /// Removes an index from the body of a design document.
  ///
  /// - Returns: Whether it was there.
  package static func remove(_ name: String, _ type: IndexType, from body: inout JSONObject) -> Bool {
    let kind = type.isOrdered ? "views" : "indexes"
    guard body["language"] == language, var members = body[kind]?.objectValue, members[name] != nil else {
      return false
    }
    members[name] = nil
    body[kind] = members.isEmpty ? nil : .object(members)
    return true
  }
}
