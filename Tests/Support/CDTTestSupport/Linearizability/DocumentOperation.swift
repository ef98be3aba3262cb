/// A call for one document by one client, with its result and the time it took.
package struct DocumentOperation: Codable, Hashable, Sendable {
  package enum Call: Codable, Hashable, Sendable {
    case create(value: String)
    case read
    /// Saves a child of a revision that the client knows.
    case update(from: String, value: String)
    case delete(from: String)
    /// Reads the winner and saves a child of it in one transaction.
    case modify(value: String)
  }

  package enum Outcome: Codable, Hashable, Sendable {
    /// The revision that was written.
    case wrote(String)
    /// The revision that was read.
    case found(Content)
    /// The revision that was read, and the one that was written.
    case modified(Content, String)
    case conflict
    case notFound
  }

  /// A revision's id, and the value in its body.
  package struct Content: Codable, Hashable, Sendable {
    package var revision: String
    package var value: String

    package init(revision: String, value: String) {
      self.revision = revision
      self.value = value
    }
  }

  package var document: String
  package var client: Int
  package var call: Call
  package var outcome: Outcome
  /// The time at which the call began, in nanoseconds of a clock that all clients share.
  package var invocation: UInt64
  /// The time at which it returned.
  package var response: UInt64

  package init(
    document: String, client: Int, call: Call, outcome: Outcome, invocation: UInt64, response: UInt64
  ) {
    self.document = document
    self.client = client
    self.call = call
    self.outcome = outcome
    self.invocation = invocation
    self.response = response
  }
}

extension DocumentOperation: CustomStringConvertible {
  package var description: String {
    "\(invocation)…\(response) client \(client): \(call) gives \(outcome)"
  }
}
