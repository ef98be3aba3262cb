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

  private func words(of document: DocumentBytes) -> Words {
    func words(_ text: [UInt8]) -> [[UInt8]] {
      text.withUnsafeBytes { tokenizer.tokens(of: $0).map(\.text) }
    }
    let fields = context.fields.map { TextContext.texts(of: $0, in: document).map(words) }
    return Words(fields: fields + [[words(TextContext.searchable(document.id))]])
  }

  private func holds(_ node: Node, _ words: Words) -> Bool {
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
  private static func places(of term: Term, in element: [[UInt8]]) -> [Int] {
    guard element.count >= term.tokens.count, let last = term.tokens.last else { return [] }
    let exact = term.tokens.dropLast()
    return (0...element.count - term.tokens.count).filter { start in
      for (offset, token) in exact.enumerated() where element[start + offset] != token { return false }
      let final = element[start + exact.count]
      return term.isPrefix ? final.starts(with: last) : final == last
    }
  }

  /// Whether one element has the terms, each near the next. Each position of the first term is carried forward to
  /// possible positions of the next one.
  private func isNear(_ terms: [Term], _ distances: [Int], _ words: Words) -> Bool {
    for (number, field) in words.fields.enumerated()
    where terms.allSatisfy({ $0.field == nil || $0.field == number }) {
      for element in field {
        var reached = Self.places(of: terms[0], in: element)
        for (step, term) in terms.dropFirst().enumerated() {
          let before = terms[step].tokens.count
          reached = Self.places(of: term, in: element).filter { place in
            reached.contains { other in
              let gap = place > other ? place - other - before : other - place - term.tokens.count
              return place != other && gap <= distances[step]
            }
          }
        }
        if !reached.isEmpty { return true }
      }
    }
    return false
  }
}

extension TextContext {
  /// The texts of a field: its string or number, or those of its array. A number's text is its JSON text.
  static func texts(of path: FieldPath, in document: DocumentBytes) -> [[UInt8]] {
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
  static func searchable(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    text.contains(0) ? text.map { $0 == 0 ? 0x20 : $0 } : Array(text)
  }
}
