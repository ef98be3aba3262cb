import CDTDatastore
import CDTJSON
import CDTQuery

extension Tool {
  static let writing = [put, update, delete, createIndex]

  private static let put = Tool(
    "put",
    "Create a document, or replace a revision of one. The document has an _id, or is given one; to replace a revision it also has "
      + "that _rev, which get returns.", required: [.store, .document], isForWriting: true,
    isDestructive: true
  ) { call in
    let document = try DocumentArgument(call.object(.document).text)
    let revision = try document.revision.map(RevisionArgument.read)
    let (id, body) = (document.id, document.body)
    do {
      let saved = try await call.writing { transaction in
        guard let revision else {
          return try transaction.createDocument(from: DocumentDraft(id: id, body: body))
        }
        guard let id else { throw ToolError(.usage, "a revision needs the id of its document; add _id") }
        return try transaction.updateDocument(withID: id, revisionID: revision, body: body)
      }
      return ["_id": .string(saved.id), "_rev": .string(saved.revisionID.description)]
    } catch let error as DatastoreError where error.code == .conflict && revision == nil {
      throw ToolError(
        .data,
        "document \(JSONValue.string(id ?? "").text) already exists; to replace it, add its current _rev")
    }
  }

  private static let update = Tool(
    "update",
    "Change fields of all documents that a selector matches, in one transaction, in the order rename, set, unset, increment, append, remove.",
    required: [.store, .updated], [.rename, .set, .unset, .increment, .append, .remove, .dryRun],
    isForWriting: true,
    isDestructive: true
  ) { call in
    let query = Query(try QuerySelector(call.object(.updated)))
    let renamed = try call.object(.rename).map { field, name in
      guard let name = name.stringValue else {
        throw ToolError(.usage, #"the new name of "\#(field)" must be a string, as in {"stat": "state"}"#)
      }
      return FieldChange.rename(field, to: name)
    }
    let changes =
      renamed + call.object(.set).map { FieldChange.set($0.key, $0.value) }
      + call.strings(.unset).map { .unset($0) }
      + call.object(.increment).map { .increment($0.key, by: $0.value) }
      + call.object(.append).map { .append($0.key, $0.value) }
      + call.object(.remove).map { .remove($0.key, $0.value) }
    guard !changes.isEmpty else {
      throw ToolError(
        .usage, "nothing is to be changed; give rename, set, unset, increment, append or remove")
    }
    return try await call.changing("updated") { try $0.update(matching: query, changes) }
  }

  private static let delete = Tool(
    "delete",
    "Delete documents by their ids, or those that a selector matches, in one transaction. Of a document with conflicts, this deletes "
      + "the winning revision, and another one takes its place.",
    required: [.store], [.ids, .matching, .dryRun], isForWriting: true, isDestructive: true
  ) { call in
    guard (call[.ids] == nil) != (call[.matching] == nil) else {
      throw ToolError(.usage, "give ids, or matching with a selector")
    }
    guard call[.ids] == nil else {
      let ids = call.strings(.ids)
      return try await call.changing("deleted") { transaction in
        for id in ids { _ = try transaction.deleteDocument(from: transaction.document(withID: id)) }
        return ids.count
      }
    }
    let query = Query(try QuerySelector(call.object(.matching)))
    return try await call.changing("deleted") { try $0.delete(matching: query) }
  }

  private static let createIndex = Tool(
    "create_index",
    "Create an index unless it exists, and build it. Reading and writing go on during the build.",
    required: [.store, .indexFields],
    [.indexName, .indexType, .tokenize, .vector, .filter, .unique, .collation, .sum], isForWriting: true
  ) { call in
    var json = call.arguments
    json["store"] = nil
    if let sums = call[.sum]?.arrayValue {
      json["fields"] = .array((call[.indexFields]?.arrayValue ?? []) + sums)
    }
    let definition = try IndexDefinition(json: json)
    let store = try call.open()
    let isNamed = call[.indexName] != nil
    return try await store.runLong { stop in
      let name = try store.ensure(definition, isNamed: isNamed, stop: stop) { _ in }
      var json: JSONObject = ["name": .string(name)]
      json.add(notes: try StoreDatabase.notes(on: definition, named: name, in: store))
      return json
    }
  }
}

extension SharedArgument {
  fileprivate static let document = Self("document", .object, "The document with its _id and _rev")
  fileprivate static let rename = Self(
    "rename", .object, "Move values to other fields", as: (nil, #"{"stat": "state"}"#))
  fileprivate static let set = Self(
    "set", .object, "Assign values", as: (nil, #"{"status": "done", "pet.age": 3}"#))
  fileprivate static let unset = Self("unset", .strings, "Remove fields")
  fileprivate static let increment = Self("increment", .object, "Add to numbers", as: (nil, #"{"edits": 1}"#))
  fileprivate static let append = Self(
    "append", .object, "Add an element at the end of arrays", as: (nil, #"{"tags": "new"}"#))
  fileprivate static let remove = Self(
    "remove", .object, "Remove the elements of arrays that equal a value", as: (nil, #"{"tags": "old"}"#))
  fileprivate static let indexFields = Self(
    "fields", .fields, "Fields, most significant first", as: (nil, #"["name", {"age": "desc"}]"#))
  fileprivate static let sum = Self(
    "sum", .strings, "Make a summary by the fields, with the sums of these fields")
}

extension ToolCall {
  /// Changes documents in one transaction, or only counts them.
  fileprivate func changing(
    _ verb: String, _ change: @escaping @Sendable (WriteTransaction) throws -> Int
  ) async throws -> JSONObject {
    guard self[.dryRun] == true else { return [verb: .int(Int64(try await writing(change)))] }
    let store = try open()
    return [
      "would_be_\(verb)": .int(
        Int64(try await store.runLong { _ in try BulkChange.count(of: change, in: store) }))
    ]
  }

  /// Changes the store in one transaction.
  fileprivate func writing<R: Sendable>(
    _ change: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await open().write(change)
  }
}
