package import CDTJSON

extension FieldPath {
  /// Calls `body` with each value that has a distance to vectors of a length: the arrays of so many finite numbers that the path reaches
  /// in a document, elements of arrays included.
  package func forEachVector(ofLength length: Int, in bytes: JSONBytes, _ body: ([Double]) -> Void) {
    guard documentField == nil else { return }
    var vector: [Double] = []
    vector.reserveCapacity(length)
    func take(_ start: Int) -> Bool {
      vector.removeAll(keepingCapacity: true)
      let areNumbers = bytes.forEachNumber(at: start) { number in
        vector.append(number)
        return vector.count <= length
      }
      guard areNumbers, vector.count == length else { return false }
      body(vector)
      return true
    }
    var walk = PathWalk(bytes, from: 0, through: segments)
    while let value = walk.next() {
      guard !take(value), bytes.kind(at: value) == .array else { continue }
      var elements = bytes.elements(at: value)
      while let element = elements.next() { _ = take(element) }
    }
  }
}
