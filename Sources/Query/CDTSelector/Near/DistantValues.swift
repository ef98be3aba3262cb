package import CDTJSON

extension JSONBytes {
  /// Offers the value at an offset, and the elements of an array that is not taken.
  ///
  /// - Parameter take: Whether the value at an offset is taken: whether it has a distance.
  func offer(_ start: Int, to take: (Int) -> Bool) {
    guard !take(start), kind(at: start) == .array else { return }
    var elements = elements(at: start)
    while let element = elements.next() { _ = take(element) }
  }
}

extension FieldPath {
  /// Offers the values that the path reaches in a document, and the elements of arrays that are not taken.
  func offerValues(in bytes: JSONBytes, to take: (Int) -> Bool) {
    guard documentField == nil else { return }
    var walk = PathWalk(bytes, from: 0, through: segments)
    while let value = walk.next() { bytes.offer(value, to: take) }
  }

  /// Calls `body` with each value that has a distance to vectors of a length: the arrays of so many finite numbers that the path reaches
  /// in a document, elements of arrays included.
  package func forEachVector(ofLength length: Int, in bytes: JSONBytes, _ body: ([Double]) -> Void) {
    var vector: [Double] = []
    vector.reserveCapacity(length)
    offerValues(in: bytes) { start in
      vector.removeAll(keepingCapacity: true)
      let areNumbers = bytes.forEachNumber(at: start) { number in
        vector.append(number)
        return vector.count <= length
      }
      guard areNumbers, vector.count == length else { return false }
      body(vector)
      return true
    }
  }
}
