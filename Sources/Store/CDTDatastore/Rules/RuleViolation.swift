public import CDTJSON

/// A write that a rule of the datastore refuses. Nothing of the revision was saved.
///
/// ```swift
/// do {
///   try store.createDocument(from: DocumentDraft(body: ["type": "task", "title": 7]))
/// } catch let violation as RuleViolation {
///   violation.reason                // newDoc.title: expected a string
///   violation.failures[0].path      // ["newDoc", "title"]
/// }
/// ```
///
/// See `docs/rules.md`.
public struct RuleViolation: Error, Hashable, Sendable {
  /// The id of the document.
  public let documentID: String
  /// Whether a rule says that the user is not authorized (status 401 of a server), and not that the write is forbidden (403).
  public let isUnauthorized: Bool
  /// All failures, at most 100.
  public let failures: [RuleFailure]
  /// The text for people: that of the rule's author, or the first failures.
  public let reason: String

  /// The maximum number of failures.
  package static let maximumFailures = 100

  package init(documentID: String, isUnauthorized: Bool, failures: [RuleFailure], reason: String) {
    self.documentID = documentID
    self.isUnauthorized = isUnauthorized
    self.failures = Array(failures.prefix(Self.maximumFailures))
    self.reason = reason
  }

  /// `forbidden` or `unauthorized`, as in CouchDB's replies.
  package var error: String { isUnauthorized ? "unauthorized" : "forbidden" }
}

extension RuleViolation: CustomStringConvertible {
  /// The document and the reason.
  public var description: String { "document \(JSONValue.string(documentID).text): \(reason)" }
}

/// A part of a rule that does not hold.
public struct RuleFailure: Hashable, Sendable {
  /// The place in the rule's input: names of members and positions in arrays, such as `["newDoc", "tags", 2]`.
  public let path: [JSONValue]
  /// The operator without its dollar sign, such as `type`; after `$not` it has a negative form, such as `ne` or `not type`.
  public let type: String
  /// The operands.
  public let parameters: [JSONValue]
  /// The text for people without the place, such as `expected a string`.
  public let message: String

  package init(path: [JSONValue], type: String, parameters: [JSONValue], message: String) {
    self.path = path
    self.type = type
    self.parameters = parameters
    self.message = message
  }

  /// The failure as in a server's reply.
  package var json: JSONObject {
    [
      "path": .array(path), "type": .string(type), "params": .array(parameters), "message": .string(message),
    ]
  }
}

extension RuleFailure: CustomStringConvertible {
  /// The place and the message, such as `newDoc.title: expected a string`; the text of `$reason` alone.
  public var description: String {
    guard type != "reason", !path.isEmpty else { return message }
    return "\(path.map { $0.stringValue ?? $0.text }.joined(separator: ".")): \(message)"
  }
}
