import CDTJSON

extension TextProgram {
  /// The tokens of a document: those of the elements of each field, the id last.
  struct Words {
    let fields: [[[[UInt8]]]]
  }

  /// Whether the words of a document satisfy the search.
  func matches(_ document: DocumentBytes) -> Bool {
    guard let root else { return false }
    return holds(root, words(of: document))
  }

  func words(of document: DocumentBytes) -> Words {
    Words(
      fields: (0...context.fields.count).map { field in
        texts(ofField: field, in: document).map { tokens(of: $0).map(\.text) }
      })
  }

  /// The tokens of a text; with trigrams, one for each character.
  func tokens(of text: [UInt8]) -> [TextToken] {
    context.tokenizerName == .trigram
      ? tokenizer.characters(of: text) : text.withUnsafeBytes { tokenizer.tokens(of: $0) }
  }

  /// The texts of the elements of a field; of the id after the last field.
  func texts(ofField field: Int, in document: DocumentBytes) -> [[UInt8]] {
    context.fields.indices.contains(field)
      ? TextContext.texts(of: context.fields[field], in: document) : [TextContext.searchable(document.id)]
  }

  func holds(_ node: Node, _ words: Words) -> Bool {
    switch node {
    case .and(let members): members.allSatisfy { holds($0, words) }
    case .or(let members): members.contains { holds($0, words) }
    case .not(let wanted, let unwanted): holds(wanted, words) && !holds(unwanted, words)
    case .term(let term): elements(of: term, words).contains { !Self.places(of: term, in: $0).isEmpty }
    case .near(let terms, let distances): isNear(terms, distances, words)
    }
  }

  private func elements(of term: Term, _ words: Words) -> [[[UInt8]]] {
    term.field.map { words.fields[$0] } ?? words.fields.flatMap(\.self)
  }

  /// The positions of a term in an element.
  static func places(of term: Term, in element: [[UInt8]]) -> [Int] {
    guard element.count >= term.width, let last = term.tokens.last else { return [] }
    let exact = term.tokens.dropLast()
    return (0...element.count - term.width).filter { start in
      for (offset, token) in exact.enumerated() where element[start + offset] != token { return false }
      let final = element[start + exact.count]
      return term.isPrefix ? final.starts(with: last) : final == last
    }
  }

  /// Whether one element has the terms, each near the next.
  private func isNear(_ terms: [Term], _ distances: [Int], _ words: Words) -> Bool {
    for (number, field) in words.fields.enumerated()
    where terms.allSatisfy({ $0.field == nil || $0.field == number }) {
      for element in field where !Self.nearPlaces(of: terms, distances, in: element).isEmpty { return true }
    }
    return false
  }

  /// The positions in an element of terms that are each near the next; empty if there are none.
  static func nearPlaces(of terms: [Term], _ distances: [Int], in element: [[UInt8]]) -> [[Int]] {
    // Each position of a term is carried forward to possible positions of the next one.
    var places = [places(of: terms[0], in: element)]
    for (step, term) in terms.dropFirst().enumerated() {
      let before = places[step]
      if before.isEmpty { return [] }
      places.append(
        Self.places(of: term, in: element).filter { place in
          before.contains { Self.isNear($0, terms[step], place, term, distances[step]) }
        })
    }
    if places.last?.isEmpty ?? true { return [] }
    // And those that lead no further are dropped.
    for step in distances.indices.reversed() {
      let after = places[step + 1]
      places[step].removeAll { place in
        !after.contains { Self.isNear(place, terms[step], $0, terms[step + 1], distances[step]) }
      }
    }
    return places
  }

  private static func isNear(
    _ place: Int, _ term: Term, _ next: Int, _ nextTerm: Term, _ distance: Int
  ) -> Bool {
    let gap = next > place ? next - place - term.width : place - next - nextTerm.width
    return next != place && gap <= distance
  }
}

extension TextContext {
  /// The texts of a field: its string or number, or those of its array. A number's text is its JSON text.
  package static func texts(of path: FieldPath, in document: DocumentBytes) -> [[UInt8]] {
    if let field = path.documentField { return [searchable(document.string(of: field))] }
    let bytes = document.body
    return FieldValues(of: path, in: bytes).offsets.compactMap { offset in
      switch bytes.kind(at: offset) {
      case .string: bytes.withStringBytes(at: offset) { searchable($0) }
      case .number: Array(bytes.slice(offset, bytes.endOfValue(at: offset)))
      default: nil
      }
    }
  }

  /// Text as it is indexed: a NUL, at which some tokenizers stop, becomes a space.
  package static func searchable(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    text.contains(0) ? text.map { $0 == 0 ? 0x20 : $0 } : Array(text)
  }
}
