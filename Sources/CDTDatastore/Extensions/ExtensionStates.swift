/// What extensions keep for a reader or a transaction, each in a type of its own.
package struct ExtensionStates {
  // Few, so a search costs less than a dictionary.
  private var states: [(type: ObjectIdentifier, state: Any)] = []

  package subscript<State>(_ type: State.Type) -> State? {
    get {
      let wanted = ObjectIdentifier(type)
      for known in states where known.type == wanted { return known.state as? State }
      return nil
    }
    set {
      states.removeAll { $0.type == ObjectIdentifier(type) }
      if let newValue { states.append((ObjectIdentifier(type), newValue)) }
    }
  }
}
