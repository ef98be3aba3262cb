import JSON
import Synchronization

/// What a revision says: a value, or text that becomes one when somebody looks at it.
enum DocumentBody: Sendable {
  case object(JSONObject)
  case stored(StoredBody)

  var object: JSONObject {
    switch self {
    case .object(let object): object
    case .stored(let stored): stored.object
    }
  }
}

/// A body as it was read, decoded when it is first looked at. Who replaces a document as a whole never does.
final class StoredBody: Sendable {
  private enum State {
    case text([UInt8])
    case object(JSONObject)
  }

  private let state: Mutex<State>

  /// - Returns: `nil` for text that is no object. Stored text was validated, so its ends tell whether it still is what was
  ///   stored.
  init?(_ text: UnsafeRawBufferPointer) {
    guard text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}") else { return nil }
    state = Mutex(.text(Array(text)))
  }

  var object: JSONObject {
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
