/// The states of extensions for a reader or a transaction, each of a type of its own.
package struct ExtensionStates {
  // There are one or two. With a dictionary, a transaction takes 1,200 instructions more (q2 of `make bench-gate`). Each is in a `Box`, as
  // the type of an object is found faster than that of another value.
  @usableFromInline var states: [AnyObject] = []

  package init() {}

  @inlinable
  package subscript<State>(_ type: State.Type) -> State? {
    @inline(__always) get {
      for state in states {
        if let found = state as? Box<State> { return found.state }
      }
      return nil
    }
    set {
      states.removeAll { $0 is Box<State> }
      if let newValue { states.append(Box(newValue)) }
    }
  }

  @usableFromInline
  final class Box<State> {
    @usableFromInline let state: State

    @usableFromInline
    init(_ state: State) { self.state = state }
  }
}
