import CDTDatastore
import CDTJSON
import Synchronization

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// When the documents of a world expire, and its clock.
final class WorldExpiry: Sendable {
  /// A rule, and what it means: the members of a step.
  private let rules = Mutex<[JSONObject]>([])
  private let clock = Mutex(beginning)

  /// A time at which no document has expired.
  static let beginning = -1e300

  var hasRules: Bool { rules.withLock { !$0.isEmpty } }

  var now: Double {
    get { clock.withLock { $0 } }
    set { clock.withLock { $0 = newValue } }
  }

  func add(_ rule: JSONObject) {
    rules.withLock { $0.append(rule) }
  }

  /// Whether a document has expired, by the words of `docs/query.md`.
  func hasExpired(_ document: DocumentRevision) -> Bool {
    let now = now
    return rules.withLock { $0 }.contains { rule in
      guard let value = document.body[rule["field"]?.stringValue ?? ""], let number = JSONNumber(value),
        Oracle.matches(rule["where"]?.objectValue ?? [:], document.body, id: document.id)
      else { return false }
      let date: Double =
        switch number {
        case .int(let int): Double(int)
        case .double(let double): double
        }
      return date + Double(rule["seconds"]?.intValue ?? 0) <= now
    }
  }

  /// Runs `body` at a time at which nothing has expired.
  func atBeginning<R>(_ body: () throws -> R) rethrows -> R {
    let time = now
    now = Self.beginning
    defer { now = time }
    return try body()
  }
}

extension World {
  /// Has documents expire in both datastores, whose clock is that of the world and which delete only when they are told.
  func makeExpiring(_ step: Step) throws {
    guard let rule = step.argument.objectValue, let field = rule["field"]?.stringValue else { return }
    for store in [indexed, plain] {
      let manager = try store.indexManager()
      manager.expiry.setClock { [expiry] in expiry.now }
      manager.worker.close()
    }
    try ignoringRefusal {
      for store in [indexed, plain] {
        try store.ensureIndexed(
          [SortField(field)],
          IndexOptions(
            where: rule["where"]?.objectValue ?? [:], expireAfter: .seconds(rule["seconds"]?.intValue ?? 0)))
      }
      expiry.add(rule)
    }
  }

  /// Deletes what has expired in the other datastore, after that with the indexes has done so.
  func deleteExpired() throws {
    guard expiry.hasRules else { return }
    try plain.updateIndexes()
    try expiry.atBeginning {
      try refresh()
      let rest = try plain.read { try $0.allDocuments() }.map { Item($0).text }
      let held = documents.map { Item($0).text }
      try Expectation.compare(rest, held, way: "after deletions")
    }
    let left = held.values.filter(expiry.hasExpired).map(\.id)
    try Expectation.compare(left, [], way: "documents that are not deleted")
  }
}
