/// The part of all results that a query returns.
package struct ResultPage: Sendable {
  package var skip: Int
  /// `nil` for all.
  package var limit: Int?
  private var passed = 0
  /// The number of results that were returned.
  package private(set) var given = 0

  package init(skip: Int = 0, limit: Int? = nil) {
    (self.skip, self.limit) = (skip, limit)
  }

  /// The number of results up to the end of the page; `nil` for all.
  package var end: Int? {
    guard let limit else { return nil }
    let (end, overflows) = skip.addingReportingOverflow(limit)
    return overflows ? nil : end
  }

  /// Whether no further result is needed.
  package var isComplete: Bool { limit.map { given >= $0 } ?? false }

  /// The part of all results that belongs to the page.
  package func part<Results: Collection>(of all: Results) -> Results.SubSequence {
    all.dropFirst(skip).prefix(limit ?? .max)
  }

  /// Takes the next result.
  ///
  /// - Returns: Whether it belongs to the page.
  package mutating func take() -> Bool {
    guard passed >= skip else {
      passed += 1
      return false
    }
    guard !isComplete else { return false }
    given += 1
    return true
  }
}

/// The first elements of more, in ascending order.
struct FirstElements<Element> {
  /// The number of elements to keep; `nil` for all.
  private let wanted: Int?
  private let precedes: (Element, Element) -> Bool
  private var elements: [Element] = []

  /// With fewer elements, dropping the later ones saves nothing.
  private static var minimumPruned: Int { 1_000 }

  init(_ wanted: Int?, by precedes: @escaping (Element, Element) -> Bool) {
    (self.wanted, self.precedes) = (wanted, precedes)
  }

  /// Whether there are as many elements as are wanted, so that later ones are not needed.
  var isFull: Bool { wanted.map { elements.count >= $0 } ?? false }

  mutating func add(_ element: Element) {
    elements.append(element)
    if let wanted, elements.count / 2 >= max(wanted, Self.minimumPruned) { _ = sorted() }
  }

  /// The elements to keep, in order.
  mutating func sorted() -> [Element] {
    elements.sort(by: precedes)
    if let wanted, elements.count > wanted { elements.removeLast(elements.count - wanted) }
    return elements
  }
}
