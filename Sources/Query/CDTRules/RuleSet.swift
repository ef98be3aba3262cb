import CDTDatastore
import CDTJSON
import CDTSelector

/// The rules of a datastore, read from its design documents.
///
/// ```json
/// {"_id": "_design/tasks", "language": "query",
///  "validate_doc_update": {"newDoc": {"type": "task", "title": {"$type": "string"}}},
///  "read": [{"roles": ["*"], "selector": {"owner": {"$data": "userCtx.name"}}}]}
/// ```
struct RuleSet: Sendable {
  /// A rule of writing.
  struct WritingRule: Sendable {
    let designDocument: String
    let clause: Clause
    private let matcher: RuleMatcher
    let readsOldDocument: Bool

    init(_ json: JSONValue, of id: String, _ body: JSONObject, isSaved: Bool) throws(QueryError) {
      guard case .object(let selector) = json else {
        throw QueryError(.notAnObject(json), at: RuleSet.writing)
      }
      do throws(QueryError) {
        let additions = RuleAdditions(.writing, of: body, requiresPortablePatterns: isSaved)
        clause = try QuerySelector(selector, with: additions).clause
      } catch {
        throw error.below(RuleSet.writing)
      }
      designDocument = id
      matcher = RuleMatcher(clause)
      readsOldDocument = clause.readsOldDocument
    }

    func holds(for input: DocumentBytes) throws(MatchFailure) -> Bool {
      try matcher.matches(input)
    }
  }

  /// An entry of `read`.
  struct ReadingRule: Sendable {
    let roles: [String]
    let clause: Clause

    init(_ json: JSONValue, at place: String, of body: JSONObject, isSaved: Bool) throws(QueryError) {
      guard case .object(let entry) = json, case .array(let roles)? = entry["roles"],
        case .object(let selector)? = entry["selector"], entry.count == 2,
        roles.allSatisfy({ $0.stringValue != nil })
      else { throw QueryError(.readingRule(json), at: place) }
      self.roles = roles.compactMap(\.stringValue)
      do throws(QueryError) {
        let additions = RuleAdditions(.reading, of: body, requiresPortablePatterns: isSaved)
        clause = try QuerySelector(selector, with: additions).clause
      } catch {
        throw error.below("\(place).selector")
      }
    }

    func concerns(_ user: UserContext) -> Bool {
      roles.contains { role in
        role == "*" || user.roles.contains { $0.hasSameBytes(as: role) }
      }
    }
  }

  private(set) var writing: [WritingRule] = []
  /// Whether a rule of reading can't be read: until it is repaired, only admins see documents.
  private(set) var hidesEverything = false
  /// `nil` if no design document has rules of reading, and everybody sees everything.
  private(set) var reading: [ReadingRule]?
  /// The design documents with rules of reading, as far as these depend on them, as JSON text; empty if there are none.
  private(set) var readingText = ""
  /// The first rule that can't be read: until it is repaired, nothing can be written.
  private(set) var unreadable: (designDocument: String, error: QueryError)?

  static let writing = "validate_doc_update"
  static let reading = "read"

  var readsOldDocument: Bool { writing.contains(where: \.readsOldDocument) }

  init() {}

  /// Compiles the rules of a ``readingText``. A text that is damaged hides everything.
  init(readingText text: String) {
    if text.isEmpty { return }
    for (id, body) in (try? JSONObject(parsing: Array(text.utf8))) ?? [:] {
      add(body.objectValue ?? [:], of: id)
    }
    hidesEverything = hidesEverything || reading == nil
  }

  /// Adds rules that follow those that there are.
  mutating func add(_ other: RuleSet) {
    writing += other.writing
    hidesEverything = hidesEverything || other.hidesEverything
    if let rules = other.reading { reading = (reading ?? []) + rules }
    add(readingText: other.readingText)
    if unreadable == nil { unreadable = other.unreadable }
  }

  private mutating func add(readingText text: String) {
    guard !text.isEmpty else { return }
    readingText = readingText.isEmpty ? text : "\(readingText.dropLast()),\(text.dropFirst())"
  }

  /// Adds the rules of a design document.
  mutating func add(_ body: JSONObject, of id: String) {
    do throws(QueryError) {
      if let rules = try Self.readingRules(body) {
        reading = (reading ?? []) + rules
        add(readingText: JSONObject([(id, .object(Self.readingPart(of: body)))]).text)
      }
    } catch {
      if unreadable == nil { unreadable = (id, error) }
      hidesEverything = true
    }
    do throws(QueryError) {
      if let rule = try Self.writingRule(of: id, body) { writing.append(rule) }
    } catch {
      if unreadable == nil { unreadable = (id, error) }
    }
  }

  /// The entries of `read` of a design document; `nil` if it has none.
  ///
  /// - Parameter isSaved: Whether the design document is being saved. Then its patterns must be of the portable subset.
  static func readingRules(_ body: JSONObject, isSaved: Bool = false) throws(QueryError) -> [ReadingRule]? {
    guard body["language"] == "query", let json = body[reading], json != .null else { return nil }
    guard case .array(let entries) = json else { throw QueryError(.readingRule(json), at: reading) }
    var rules: [ReadingRule] = []
    for (number, entry) in entries.enumerated() {
      rules.append(try ReadingRule(entry, at: "\(reading)[\(number)]", of: body, isSaved: isSaved))
    }
    return rules
  }

  /// The members of a design document on which its rules of reading depend.
  private static func readingPart(of body: JSONObject) -> JSONObject {
    var part: JSONObject = ["language": "query"]
    part[reading] = body[reading]
    // A reference can name any member.
    return part.text.contains(#""$ref""#) ? body : part
  }

  /// - Throws: ``QueryError`` with the path of the clause in the design document.
  static func writingRule(
    of id: String, _ body: JSONObject, isSaved: Bool = false
  ) throws(QueryError) -> WritingRule? {
    guard body["language"] == "query", let rule = body[writing], rule != .null else { return nil }
    return try WritingRule(rule, of: id, body, isSaved: isSaved)
  }
}

extension Clause {
  /// Whether it depends on the document that is replaced.
  fileprivate var readsOldDocument: Bool {
    // A false answer would be wrong, and a true one only costs time.
    selector.text.contains("oldDoc")
  }
}
