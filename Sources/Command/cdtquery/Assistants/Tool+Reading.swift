import CDTDatastore
import CDTJSON
import CDTQuery

extension Tool {
  static let reading = [
    listStores, describe, find, count, group, distinct, get, explain, conflicts, changes,
  ]

  private static let listStores = Tool(
    "list_stores", "The stores, with their numbers of documents.", required: [], [.skip]
  ) { call in
    var answer = Answer(call.limits)
    var stores: [(name: String, count: () throws -> Int)] = []
    for directory in call.stores.directories {
      do {
        stores += try call.stores.stores(in: directory).map { store in
          (store.path, { try call.stores.open(store).read { try $0.documentCount() } })
        }
      } catch {
        stores.append((directory, { throw error }))
      }
    }
    let skip = try call.count(.skip) ?? 0
    for (name, count) in stores.dropFirst(skip) {
      var row: JSONObject = ["store": .string(name)]
      do {
        row["documents"] = .int(Int64(try count()))
      } catch {
        guard ExitStatus(error) != nil else { throw error }
        row["error"] = .string(ErrorText.of(error))
      }
      guard answer.add(.object(row)) else {
        let next = skip + answer.rows.count
        return answer.json(
          "stores",
          more: Answer.more("\(stores.count - next) of \(stores.count)", ["skip": .int(Int64(next))]))
      }
    }
    return answer.json("stores", more: nil)
  }

  private static let describe = Tool(
    "describe",
    "The fields of the documents of a store, with types, numbers of distinct values and examples; and indexes that may help. Reads "
      + "every document.", required: [.store], [.skip]
  ) { call in
    let summary = try await call.reading { store in
      try await store.readForQuery { try $0.summarizeFields(ofFirst: nil).json }
    }
    var answer = Answer(call.limits)
    // The counts of all values are more than an assistant reads.
    let fields = (summary["fields"]?.arrayValue ?? []).map { field in
      JSONValue.object((field.objectValue ?? [:]).filter { $0.key != "counts" })
    }
    let more = try answer.add(fields, skip: call.count(.skip) ?? 0)
    var json = answer.json("fields", more: more)
    json["documents"] = summary["documents"]
    // These are not in any answer.
    if let omitted = summary["omittedFields"]?.intValue, omitted > 0 {
      json["omittedFields"] = summary["omittedFields"]
    }
    json["indexes"] = .array(
      try (summary["indexes"]?.arrayValue ?? []).map { index in
        var proposal = try call.creation(of: ["fields": [index["field"] ?? .null]])
        proposal["reason"] = index["reason"]
        return .object(proposal)
      })
    return json
  }

  private static let page: [SharedArgument] = [.sort, .limit, .skip, .useIndex, .collation]
  private static let query = page + [.fields, .bookmark, .include, .snippets, .distance]
  private static let groups: [SharedArgument] = [.by, .aggregates, .unwind, .having]

  private static let find = Tool(
    "find", "The documents that a selector matches.", required: [.store], [.selector] + query
  ) { call in
    var query = try Query(request: call.request(query))
    let limit = query.limit
    // One more shows whether there is more.
    query.limit = min(limit ?? .max, call.limits.rows + 1)
    let wanted = query
    return try await call.reading { store in
      try await store.runQuery { stop in
        let results = try ResultSet(wanted, in: store, signal: stop)
        var (answer, more, last) = (Answer(call.limits), JSONObject?.none, Bookmark?.none)
        var linked: [String: Linked<DocumentRevision>]?
        while let document = try results.next() {
          guard answer.add(.object(document.json)) else {
            var next: JSONObject = ["bookmark": last.map { .string($0.text) } ?? .null]
            next["limit"] = limit.map { .int(Int64($0 - answer.rows.count)) }
            if wanted.skip > 0 { next["skip"] = 0 }
            more = Answer.more("the documents after these", next)
            break
          }
          last = try results.bookmark()
          // Before the next result is read, which is not shown.
          if answer.isFull { linked = try results.included() }
        }
        let included = answer.included(try linked ?? results.included())
        answer.note(store.hints(about: wanted, foundNothing: answer.rows.isEmpty))
        var json = answer.json("docs", more: more)
        if !wanted.include.isEmpty { json["included"] = .object(included) }
        return json
      }
    }
  }

  private static let count = Tool(
    "count", "How many documents a selector matches.", required: [.store], [.selector, .useIndex]
  ) { call in
    let query = try Query(request: call.request([.useIndex]))
    return try await call.reading { store in
      let count = try await store.readForQuery { try $0.count(query) }
      var json: JSONObject = ["count": .int(Int64(count))]
      json.add(notes: store.hints(about: query, foundNothing: count == 0))
      return json
    }
  }

  private static let group = Tool(
    "group",
    "Counts, sums, averages, smallest and largest values of groups of documents. A group has the documents with the same values of "
      + "the fields in by; without by, there is one group. sort and having use the members of the rows.",
    required: [.store, .aggregates], [.selector, .by, .unwind, .having] + page
  ) { call in
    let query = try call.groupQuery(page)
    return try await call.reading { store in
      let rows = try await store.readForQuery { try $0.group(query) }
      var answer = Answer(call.limits)
      let rest = rows.drop { answer.add(.object($0)) }
      var next: JSONObject = ["skip": .int(Int64(query.query.skip + answer.rows.count))]
      if query.query.limit != nil { next["limit"] = .int(Int64(rest.count)) }
      let more = rest.isEmpty ? nil : Answer.more("\(rest.count) of \(rows.count)", next)
      return answer.json("rows", more: more)
    }
  }

  private static let distinct = Tool(
    "distinct",
    "The distinct values of a field. Each element of an array is a value; null is one, a missing field has none.",
    required: [.store, .field], [.selector, .skip]
  ) { call in
    let query = try GroupQuery(
      distinct: call.string(.field) ?? "", Query(request: call.request([])))
    return try await call.reading { store in
      let values = query.values(of: try await store.readForQuery { try $0.group(query) })
      var answer = Answer(call.limits)
      let more = try answer.add(values, skip: call.count(.skip) ?? 0)
      return answer.json("values", more: more)
    }
  }

  private static let get = Tool(
    "get", "Documents by their ids, or one revision of one document.", required: [.store, .ids], [.revision]
  ) { call in
    let ids = call.strings(.ids)
    let wanted = try call.string(.revision).map(RevisionArgument.read)
    let limits = call.limits
    guard wanted == nil || ids.count == 1 else {
      throw ToolError(.usage, "rev needs exactly one id; give one")
    }
    return try await call.reading { store in
      try await store.readDocuments { transaction in
        var (answer, missing, rest) = (Answer(limits), [JSONValue](), ids[...])
        while let id = rest.first, answer.rows.count + missing.count < limits.rows {
          let document =
            try wanted.map { try transaction.document(withID: id, revisionID: $0) }
            ?? transaction.documents(withIDs: [id]).first
          if let document {
            guard answer.add(.object(document.json)) else { break }
          } else {
            missing.append(.string(id))
          }
          rest.removeFirst()
        }
        let next: JSONObject = ["ids": .array(rest.map { .string($0) })]
        var json = answer.json(
          "docs", more: rest.isEmpty ? nil : Answer.more("\(rest.count) of \(ids.count)", next))
        if !missing.isEmpty { json["missing"] = .array(missing) }
        return json
      }
    }
  }

  private static let explain = Tool(
    "explain",
    "How a query of find or group is answered: by which index, what is left to the matcher, and an index that would help.",
    required: [.store], [.selector] + query + groups
  ) { call in
    let isForGroups = groups.contains { call[$0] != nil }
    let (explanation, suggested) = try await call.reading { store in
      if isForGroups {
        let query = try call.groupQuery(page)
        return try await store.readForQuery { try $0.explain(query) }.forTools
      }
      let query = try Query(request: call.request(query))
      return try await store.readForQuery { try $0.explain(query) }.forTools
    }
    var json = explanation
    if let suggested { json["suggestedIndex"] = .object(try call.creation(of: suggested)) }
    return json
  }

  private static let conflicts = Tool(
    "conflicts",
    "The documents that have conflicts, with their winning and conflicting revisions; or, with an id, the conflicting revisions of one "
      + "document, the winner first.", required: [.store], [.id, .skip]
  ) { call in
    let id = call.string(.id)
    let rows: [JSONValue] = try await call.reading { store in
      try await store.readDocuments { transaction in
        if let id {
          let leaves = try ConflictsCommand.leaves(of: id, in: transaction)
          return leaves.count > 1 ? leaves.map { .object($0.json) } : []
        }
        return try transaction.conflictedDocumentIDs().compactMap {
          try ConflictsCommand.row(of: $0, in: transaction).map { .object($0) }
        }
      }
    }
    var answer = Answer(call.limits)
    let more = try answer.add(rows, skip: call.count(.skip) ?? 0)
    return answer.json(id == nil ? "conflicts" : "revisions", more: more)
  }

  private static let changes = Tool(
    "changes",
    "The documents that changed, each once, ordered by their latest change. Call it again with since, the last sequence, for what "
      + "changed later.", required: [.store], [.since, .changes]
  ) { call in
    let since = Int64(try call.count(.since) ?? 0)
    let limit = try call.count(.changes) ?? 0
    guard limit > 0 || call[.changes] == nil else { throw ToolError(.usage, "limit must be 1 or more") }
    let wanted = min(limit > 0 ? limit : .max, call.limits.rows)
    let changes = try await call.reading { try await $0.changes(since: since, limit: wanted) }
    var (answer, last) = (Answer(call.limits), since)
    for change in changes.documents {
      guard answer.add(.object(ChangedDocument(change).json)) else { break }
      last = change.sequence
    }
    let isEnd = changes.documents.count < wanted && answer.rows.count == changes.documents.count
    var next: JSONObject = ["since": .int(last)]
    if limit > 0 { next["limit"] = .int(Int64(limit - answer.rows.count)) }
    let isAll = isEnd || answer.rows.count == limit
    var json = answer.json("changes", more: isAll ? nil : Answer.more("the changes after these", next))
    json["last_sequence"] = .int(isEnd ? changes.lastSequence : last)
    return json
  }
}

extension SharedArgument {
  static let store = Self("store", .string, "The store, as list_stores has it")
  static let aggregates = Self(
    "aggregates", .object,
    "The members of a row: $count, or $sum, $avg, $min or $max of a field",
    as: (nil, #"{"orders": {"$count": {}}, "total": {"$sum": "amount"}}"#))
  static let revision = Self("rev", .string, "The revision, of one document")
}

extension Explanation {
  /// The plan without its statements, and an index that would help.
  fileprivate var forTools: (JSONObject, JSONObject?) {
    var json = json
    json["sql"] = nil
    json["suggestedIndex"] = nil
    return (json, suggested?.json)
  }
}

extension Datastore {
  /// Hints about fields that no document has, and about values of other types.
  fileprivate func hints(about query: Query, foundNothing: Bool) -> [String] {
    var hints = QueryHints()
    return hints.messages(about: query, foundNothing: foundNothing) { query, body in
      try self.results(for: query).forEachJSON(inliningAttachments: false, body)
    }
  }
}

extension ToolCall {
  fileprivate func groupQuery(_ page: [SharedArgument]) throws -> GroupQuery {
    var request = request(page)
    var group = JSONObject()
    for argument in [SharedArgument.by, .aggregates, .unwind, .having] {
      group[argument.name] = self[argument]
    }
    request["group"] = .object(group)
    return try GroupQuery(request: request)
  }

  /// The call that creates an index, or the command for the user if tools don't write.
  fileprivate func creation(of index: JSONObject) throws -> JSONObject {
    let store = try store.path
    guard stores.createsIndexes else {
      let fields = try SortField.fields(index["fields"]?.arrayValue ?? [], at: "fields")
      let command = try SuggestedIndex.command(fields, IndexOptions(json: index), store: store)
      return ["command": .string(command)]
    }
    var arguments: JSONObject = ["store": .string(store)]
    for (name, value) in index { arguments[name] = value }
    return ["tool": "create_index", "arguments": .object(arguments)]
  }
}
