import CDTDatastore
import CDTJSON
import CDTQuery
import CDTRandomDocuments

@testable import CDTRemote
@testable import CDTReplication

/// A database at a server, and the documents that it has.
struct QueriedDatabase: Sendable {
  let remote: RemoteDatastore
  /// By id.
  let documents: [DocumentRevision]

  /// - Parameters:
  ///   - store: A store with the same documents.
  ///   - hasShortPages: Whether a reply has only some of the documents.
  init(_ database: RemoteDatabase, sameAs store: Datastore, hasShortPages: Bool) throws {
    var database = database
    // After silence every document is read, and a busy machine may be silent.
    database.timeout = .seconds(300)
    let textIndex = try IndexDefinition(fields: ["a", "b", "d"], .text)
    remote = RemoteDatastore(
      database, textIndex: textIndex, retries: nil, replyLimit: hasShortPages ? 2_000 : 1_000_000)
    documents = try store.read { try $0.allDocuments() }
  }

  /// What differs between the answers of the server and those of the matcher, in words.
  func differences(_ request: JSONObject) async throws -> [String] {
    guard let query = try? Query(request: request) else { return [] }
    var whole = query
    (whole.skip, whole.limit) = (0, nil)
    do {
      let expected = try whole.find(in: documents, textIndex: remote.textIndex)
      return try await differences(query, expected)
    } catch let expected as QueryError {
      do {
        return ["found \(try await remote.find(query).map(\.id)) instead of: \(expected)"]
      } catch let error as QueryError {
        return error.code == expected.code ? [] : ["\(error) instead of: \(expected)"]
      }
    }
  }

  private func differences(_ query: Query, _ matches: [DocumentRevision]) async throws -> [String] {
    var differences: [String] = []
    let before = remote.documentsRead
    let given = try await remote.find(query)
    let read = remote.documentsRead - before
    let expected = Array(matches.dropFirst(query.skip).prefix(query.limit ?? .max))
    if !Self.isAnswer(given, expected, among: query.sort.isEmpty ? matches : []) {
      differences.append("found \(Self.text(given)) instead of \(Self.text(expected))")
    }
    let plan = try RemotePlan(query)
    let designs = documents.count { $0.id.hasPrefix("_design/") }
    if case .find = plan.source, plan.residual == .always, read > matches.count + designs {
      differences.append("\(read) documents were sent for \(matches.count), though nothing is left")
    }
    let count = try await remote.count(query)
    if count != matches.count { differences.append("counted \(count) instead of \(matches.count)") }
    return differences
  }

  /// Whether results are the expected page, or without an order any page of the matches.
  private static func isAnswer(
    _ given: [DocumentRevision], _ expected: [DocumentRevision], among matches: [DocumentRevision]
  ) -> Bool {
    guard given.count == expected.count else { return false }
    if given.elementsEqual(expected, by: isSame) { return true }
    let ids = Set(given.map { Array($0.id.utf8) })
    return ids.count == given.count
      && given.allSatisfy { document in matches.contains { isSame(document, $0) } }
  }

  private static func isSame(_ left: DocumentRevision, _ right: DocumentRevision) -> Bool {
    left.id.hasSameBytes(as: right.id) && left.revisionID == right.revisionID && left.body == right.body
  }

  private static func text(_ documents: [DocumentRevision]) -> String {
    "[\(documents.map(\.json.text).joined(separator: ", "))]"
  }
}

/// Random documents, indexes and requests.
struct RandomQueries {
  var random: RandomDocuments

  init(seed: UInt64) {
    random = RandomDocuments(seed: seed, scope: .everything)
    random.hasArrays = random.chance(65)
  }

  mutating func fill(_ store: Datastore) throws {
    for _ in 0..<(10 + random.number(below: 40)) {
      let (id, body) = (random.id(), random.body())
      // Some ids are drawn twice.
      _ = try? store.createDocument(from: DocumentDraft(id: id, body: body))
    }
  }

  /// The fields of some indexes.
  mutating func indexes() -> [[SortField]] {
    (0..<random.number(below: 4)).compactMap { _ in
      random.chance(50)
        ? [SortField(random.pick(RandomDocuments.plainNames))]
        : try? SortField.fields(random.indexFields(), at: "")
    }
  }
}
