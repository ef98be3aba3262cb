/// The states of extensions for a reader or a transaction, each of a type of its own.
package struct ExtensionStates {
  // There are one or two. With a dictionary, a transaction takes 1,200 instructions more (q2 of `make bench-gate`).
  private var states: [(type: ObjectIdentifier, state: Any)] = []

  package subscript<State>(_ type: State.Type) -> State? {
    get { states.first { $0.type == ObjectIdentifier(type) }?.state as? State }
    set {
      states.removeAll { $0.type == ObjectIdentifier(type) }
      if let newValue { states.append((ObjectIdentifier(type), newValue)) }
    }
  }
}
