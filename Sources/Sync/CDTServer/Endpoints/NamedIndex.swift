import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// The name of an index in a request: of its design document, by its own name, or by both.
enum NamedIndex: Sendable {
  case either(String)
  case both(document: String, name: String)

  init?(_ value: JSONValue) throws(CouchError) {
    let texts = value.stringValue.map { [$0] } ?? value.arrayValue?.compactMap(\.stringValue) ?? []
    switch (value, texts.count) {
    case (.null, _), (.array([]), _): return nil
    case (.string, _): self = .either(texts[0])
    case (.array(let parts), 1) where parts.count == 1: self = .either(texts[0])
    case (.array(let parts), 2) where parts.count == 2: self = .both(document: texts[0], name: texts[1])
    default:
      throw CouchError(
        400, "invalid_key", "use_index must be a name or an array of a design document and a name.")
    }
  }

  func names(_ index: IndexDefinition) -> Bool {
    let (own, document) = (index.ownName, index.designDocument.map(Self.short))
    switch self {
    case .either(let text):
      let text = Self.short(text)
      return text.hasSameBytes(as: own)
        || document.map { text.hasSameBytes(as: $0) || text.hasSameBytes(as: "\($0)/\(own)") } ?? false
    case .both(let wanted, let name):
      // One that an app made has no document.
      return name.hasSameBytes(as: own) && document.map { $0.hasSameBytes(as: Self.short(wanted)) } ?? true
    }
  }

  private static func short(_ id: String) -> String {
    id.afterBytePrefix(DocumentID.designPrefix).map { String($0) } ?? id
  }

  /// A warning that the query has another index.
  var warning: String {
    "\(text) was not used because it does not contain a valid index for this query.".boundedMessage
  }

  /// As CouchDB's warnings show it.
  var text: String {
    switch self {
    case .either(let text): "_design/\(Self.short(text))"
    case .both(let document, let name): "_design/\(Self.short(document)), \(name)"
    }
  }
}
