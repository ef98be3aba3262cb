/// The matches of a document, found by the matcher's rules: only what satisfies the search is marked, so nothing after `NOT`,
/// and of an `OR` only the sides that are true.
extension TextProgram {
  /// Tokens of one element of a field that satisfy a term.
  private struct Match {
    let field: Int
    let element: Int
    let tokens: Range<Int>
  }

  /// The snippets of a document, in the order of the index's fields; none if the search does not match.
  package func snippets(of document: DocumentBytes, _ options: SnippetOptions) -> [TextSnippet] {
    let words = words(of: document)
    guard let root, holds(root, words) else { return [] }
    let found = Dictionary(grouping: matches(of: root, in: words)) { [$0.field, $0.element] }
    var snippets: [TextSnippet] = []
    for place in found.keys.sorted(by: { $0.lexicographicallyPrecedes($1) })
    where snippets.count < options.limit {
      let name = place[0] < context.fields.count ? context.fields[place[0]].text : "_id"
      let text = texts(ofField: place[0], in: document)[place[1]]
      let tokens = (found[place] ?? []).map(\.tokens).sorted { $0.lowerBound < $1.lowerBound }
      let ranges = self.tokens(of: text).map(\.range)
      snippets += TextFragments(text, of: name, tokens: ranges, options).snippets(
        around: tokens, atMost: options.limit - snippets.count)
    }
    return snippets
  }

  private func matches(of node: Node, in words: Words) -> [Match] {
    switch node {
    case .and(let members): members.flatMap { matches(of: $0, in: words) }
    case .or(let members): members.filter { holds($0, words) }.flatMap { matches(of: $0, in: words) }
    case .not(let wanted, _): matches(of: wanted, in: words)
    case .term(let term): matches(of: [term], in: words) { [Self.places(of: term, in: $0)] }
    case .near(let terms, let distances):
      matches(of: terms, in: words) { Self.nearPlaces(of: terms, distances, in: $0) }
    }
  }

  /// - Parameter places: Returns where each term is in an element.
  private func matches(of terms: [Term], in words: Words, places: ([[UInt8]]) -> [[Int]]) -> [Match] {
    var matches: [Match] = []
    for (field, elements) in words.fields.enumerated()
    where terms.allSatisfy({ $0.field == nil || $0.field == field }) {
      for (element, tokens) in elements.enumerated() {
        for (term, places) in zip(terms, places(tokens)) {
          matches += places.map { Match(field: field, element: element, tokens: $0..<$0 + term.width) }
        }
      }
    }
    return matches
  }
}
