/// Elements of which the least is taken first: a binary heap.
struct MinimumHeap<Element: Comparable> {
  private var elements: [Element] = []

  var minimum: Element? { elements.first }

  /// - Complexity: O(log *n*).
  mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  /// Removes the least element.
  ///
  /// - Complexity: O(log *n*).
  mutating func takeMinimum() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let least = elements.first else { return last }
    elements[0] = last
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < elements.count else { return least }
      let right = left + 1
      let child = right < elements.count && elements[right] < elements[left] ? right : left
      guard elements[child] < elements[parent] else { return least }
      elements.swapAt(child, parent)
      parent = child
    }
  }
}
