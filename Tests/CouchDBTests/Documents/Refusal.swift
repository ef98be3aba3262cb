import CouchDB
import Testing

/// JSON that is refused, and the error.
struct Refusal: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let error: CouchError

  init(_ json: String, _ error: CouchError) {
    testDescription = json
    self.error = error
  }

  static func member(_ json: String, _ member: String, _ rule: String) -> Refusal {
    Refusal(#"{"a":\#(json)}"#, .invalidAttachmentMember(member, of: "a", rule))
  }
}
