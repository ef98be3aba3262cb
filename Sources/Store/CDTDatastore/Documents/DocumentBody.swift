import CDTJSON
import Synchronization

/// The content of a revision: a value, or text that is decoded on first use.
package enum DocumentBody: Sendable {
  case object(JSONObject)
  case stored(StoredBody)

  /// The body in stored text; an empty one if the text is damaged.
  package init(stored text: UnsafeRawBufferPointer) {
    self = StoredBody(text).map { .stored($0) } ?? .object([:])
  }

  package var object: JSONObject {
    switch self {
    case .object(let object): object
    case .stored(let stored): stored.object
    }
  }

  /// Compact JSON text.
  package var text: [UInt8] {
    switch self {
    case .object(let object): object.utf8Text
    case .stored(let stored): stored.text
    }
  }
}

/// A body as it was read, decoded on first use. Replacing a whole document never decodes it.
package final class StoredBody: Sendable {
  private enum State {
    case text([UInt8])
    case object(JSONObject)
  }

  private let state: Mutex<State>

  /// - Parameter text: The text of the body, also as it is in a ``StoredText``.
  /// - Returns: `nil` if the text is not an object. Stored text was validated, so checking its ends detects damage.
  package init?(_ text: UnsafeRawBufferPointer) {
    guard let first = text.first, first == UInt8(ascii: "{") || first == UInt8(ascii: ","),
      text.last == UInt8(ascii: "}")
    else { return nil }
    var copy = Array(text)
    copy[0] = UInt8(ascii: "{")
    state = Mutex(.text(copy))
  }

  package var text: [UInt8] {
    state.withLock { state in
      switch state {
      case .text(let text): text
      case .object(let object): object.utf8Text
      }
    }
  }

  package var object: JSONObject {
    state.withLock { state in
      switch state {
      case .object(let object): return object
      case .text(let text):
        var object = JSONObject()
        if case .object(let decoded) = text.withUnsafeBytes({ JSONBytes($0).value(at: 0) }) {
          object = decoded
        }
        state = .object(object)
        return object
      }
    }
  }
}
