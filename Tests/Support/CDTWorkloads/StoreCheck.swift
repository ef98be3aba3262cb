package import CDTDatastore
import CDTJSON
import CDTQuery

/// The checks that must hold for a datastore after anything that happened to it.
package enum StoreCheck {
  /// The fields are those of the documents of ``Workload``.
  private static let requests: [JSONObject] = [
    ["selector": ["n": ["$gte": 10, "$lt": 40]]],
    ["selector": ["n": ["$gte": 0]], "sort": ["n"]],
    ["selector": ["kind": "red"], "sort": [["kind": "asc"], ["n": "desc"]]],
    ["selector": ["tags": "blue", "n": ["$gt": 5]]],
    ["selector": ["$or": [["kind": "old"], ["tags": "new"]]]],
    ["selector": ["$not": ["n": ["$exists": true]]]],
    ["selector": ["vector": ["$near": ["$vector": [1, 2, 3]]]]],
  ]

  private static let search: JSONObject = ["selector": ["$text": ["$search": "word new"]]]

  /// The findings of the checks, and wrong answers.
  package static func problems(of store: Datastore) throws -> [String] {
    try store.checkIntegrity().map(\.description) + store.checkIndexes().map(\.description)
      + wrongAnswers(of: store)
  }

  /// The answers that are not the matcher's.
  package static func wrongAnswers(of store: Datastore) throws -> [String] {
    var problems: [String] = []
    let documents = try store.read { try $0.allDocuments() }
    let textIndex = try store.listIndexes().map(\.definition).first { $0.type == .text }
    for request in requests + (textIndex == nil ? [] : [search]) {
      let query = try Query(request: request)
      var found = try store.read { try $0.find(query) }.map(\.id)
      var expected = try query.find(in: documents, textIndex: textIndex).map(\.id)
      if query.sort.isEmpty { (found, expected) = (found.sorted(), expected.sorted()) }
      let count = try store.read { try $0.count(query) }
      if found != expected || count != expected.count {
        problems.append("\(request.text) gives \(found), count \(count), where the matcher gives \(expected)")
      }
    }
    return problems
  }

  /// Writes, brings the indexes up to date and checks: the datastore goes on working.
  package static func problemsAfterWriting(to store: Datastore) throws -> [String] {
    try store.createDocument(
      from: DocumentDraft(
        body: ["n": 20, "kind": "red", "tags": ["blue", "new"], "text": "a new word"],
        attachments: [
          DocumentAttachment(data: .init("a new content".utf8), name: "new", contentType: "text/plain")
        ]))
    try store.updateIndexes()
    return try problems(of: store)
  }
}
