import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// The examples of `docs/model-changes.md`, each as it stands there.
@Suite struct ModelChangesGuideTests {
  struct Article: DocumentModel, HasDefaults {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var isFavorite = false
    var priority = 2
    var summary: String?
    static let defaults = Article(title: "")
  }

  @Test func `a property is added`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(from: DocumentDraft(id: "old", body: ["title": "Soup"]))
      let old = try await store.document(withID: "old", as: Article.self)
      print(old.isFavorite, old.priority, old.summary ?? "none")  // false 2 none
      let usual = try await store.find(Article.self, where: { $0.priority == 2 && !$0.isFavorite })
      #expect(!old.isFavorite && old.priority == 2 && old.summary == nil && usual.map(\.id) == ["old"])
      #expect(
        "\(try ModelQuery(Article.self, where: { $0.priority == 2 }))"
          == #"{"selector":{"$or":[{"priority":{"$eq":2}},{"priority":{"$not":{"$exists":true}}}]}}"#)

      try await store.write { transaction in
        try transaction.update(
          matching: ["title": ["$exists": true], "priority": ["$exists": false]], .set("priority", 2))
      }
      #expect(try await store.document(withID: "old").body == ["title": "Soup", "priority": 2])
    }
  }

  struct Parcel: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var state: String

    enum CodingKeys: String, CodingKey {
      case id, revision
      case state = "stat"
    }
  }

  struct Letter: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var state: String
  }

  @Test func `a property is renamed`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(from: DocumentDraft(id: "old", body: ["stat": "sent"]))
      #expect(try await store.first(Parcel.self, where: { $0.state == "sent" })?.id == "old")
      try await store.save(Letter(id: "new", state: "new"))
      try await store.update(Letter.self, where: { $0.state == nil }, .rename(from: "stat", to: \.state))
      #expect(try await store.document(withID: "old").body == ["state": "sent"])
      #expect(try await store.document(withID: "new").revisionID.generation == 1)
    }
  }

  @Test func `a property is removed`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(from: DocumentDraft(id: "old", body: ["state": "a", "color": "red"]))
      var letter = try await store.document(withID: "old", as: Letter.self)
      letter.state = "b"
      try await store.save(letter)
      #expect(try await store.document(withID: "old").body == ["state": "b", "color": "red"])
      try await store.write { try $0.update(matching: ["color": ["$exists": true]], .unset("color")) }
      #expect(try await store.document(withID: "old").body == ["state": "b"])
    }
  }

  @Test func `a property gets another form`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(from: DocumentDraft(id: "old", body: ["name": "Anna Meier", "age": 3]))
      try await store.save(Guest(id: "new", first: "Eva", last: "Meier"))
      let old = try await store.document(withID: "old", as: Guest.self)
      #expect(old.first == "Anna" && old.last == "Meier")
      #expect(try await store.find(Guest.self, where: { $0.last == "Meier" }).map(\.id) == ["new"])

      let isOld: JSONObject = ["name": ["$type": "string"], "first": ["$exists": false]]
      let changed = try await store.migrate("2026-11-split-name", matching: isOld) {
        let (first, last) = Guest.split($0.body["name"]?.stringValue ?? "")
        $0.body["name"] = nil
        $0.body["first"] = .string(first)
        $0.body["last"] = .string(last)
      }
      let meiers = try await store.find(Guest.self, where: { $0.last == "Meier" })
      #expect(changed == 1 && Set(meiers.map(\.first)) == ["Anna", "Eva"])
      #expect(try await store.document(withID: "old").body == ["age": 3, "first": "Anna", "last": "Meier"])
      #expect(
        try await store.read { try $0.localDocument(withID: "migrations/2026-11-split-name") }
          == ["last": "old", "done": 1, "complete": true])

      let late = try await store.count(isOld)
      #expect(late == 0)

      // The old member is kept, and no longer decides.
      try await store.createDocument(from: DocumentDraft(id: "late", body: ["name": "Bob Frei"]))
      var bob = try await store.document(withID: "late", as: Guest.self)
      bob.first = "Robert"
      bob = try await store.save(bob)
      #expect(bob.first == "Robert" && bob.last == "Frei")
      #expect(try await store.document(withID: "late").body["name"] == "Bob Frei")
      #expect(try await store.count(isOld) == 0)
    }
  }

  enum Status: RawRepresentable, Codable, Hashable, Sendable {
    case open, done
    case unknown(String)

    init(rawValue: String) {
      switch rawValue {
      case "open": self = .open
      case "done": self = .done
      default: self = .unknown(rawValue)
      }
    }

    var rawValue: String {
      switch self {
      case .open: "open"
      case .done: "done"
      case .unknown(let value): value
      }
    }
  }

  struct Ticket: DocumentModel {
    var id = UUID().uuidString
    var revision: RevisionID?
    var title: String
    var status = Status.open
  }

  @Test func `an enumeration grows`() async throws {
    try await withTemporaryDatastore { store in
      try await store.createDocument(
        from: DocumentDraft(id: "t1", body: ["title": "Leak", "status": "waiting"]))
      var ticket = try await store.document(withID: "t1", as: Ticket.self)
      print(ticket.status)  // unknown("waiting")
      ticket.title = "Leak in the roof"
      ticket = try await store.save(ticket)
      let open = try await store.count(Ticket.self) { $0.status == .open }
      #expect("\(ticket.status)" == #"unknown("waiting")"# && open == 0)
      #expect(
        try await store.document(withID: "t1").body == ["title": "Leak in the roof", "status": "waiting"])
      try await store.update(
        Ticket.self, where: { $0.status.in([.unknown("waiting")]) }, .set(\.status, .done))
      #expect(try await store.document(withID: "t1").body["status"] == "done")
    }
  }

  @Test func `the examples of the page are these`() throws {
    try expectExamples(of: "model-changes.md", in: #filePath, atLeast: 11)
  }
}

struct Guest: DocumentModel, Equatable {
  var id = UUID().uuidString
  var revision: RevisionID?
  var first: String
  var last: String
}

extension Guest {
  private enum OldKeys: String, CodingKey { case name }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(String.self, forKey: .id)
    if container.contains(.first) {
      first = try container.decode(String.self, forKey: .first)
      last = try container.decode(String.self, forKey: .last)
    } else {
      let old = try decoder.container(keyedBy: OldKeys.self)
      (first, last) = Self.split(try old.decode(String.self, forKey: .name))
    }
  }

  static func split(_ name: String) -> (first: String, last: String) {
    let words = name.split(separator: " ", maxSplits: 1).map(String.init)
    return (words.first ?? "", words.dropFirst().first ?? "")
  }
}
