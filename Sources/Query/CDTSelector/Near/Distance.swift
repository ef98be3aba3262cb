package import CDTJSON

/// A distance from a value: to a vector by a metric, or to a place in metres.
package enum Distance: Sendable, Hashable {
  case vector([Double], VectorMetric)
  case place(GeoPoint)

  /// The maximum number of elements of a vector.
  package static let maximumLength = 65_536

  /// The least distance of the values that a path reaches in a document, elements of arrays included; `nil` if none has a distance.
  package func least(of path: FieldPath, in bytes: JSONBytes) -> Double? {
    var least: Double?
    path.offerValues(in: bytes) { take($0, in: bytes, &least) }
    return least
  }

  /// The distance of the value at an offset, or the least one of its elements.
  func least(at start: Int, in bytes: JSONBytes) -> Double? {
    var least: Double?
    bytes.offer(start) { take($0, in: bytes, &least) }
    return least
  }

  /// Whether the value at an offset has a distance, which is then taken if it is the least.
  private func take(_ start: Int, in bytes: JSONBytes, _ least: inout Double?) -> Bool {
    guard let distance = distance(at: start, in: bytes) else { return false }
    least = min(least ?? distance, distance)
    return true
  }

  /// The distance of the value at an offset; `nil` if it has none.
  func distance(at start: Int, in bytes: JSONBytes) -> Double? {
    switch self {
    case .place(let place): GeoPoint(bytes, at: start).map { place.metres(to: $0) }
    case .vector(let vector, let metric): Self.distance(of: vector, to: start, in: bytes, by: metric)
    }
  }

  /// Sums are made in the order of the elements, so that every way to compute the distance yields the same bits.
  private static func distance(
    of vector: [Double], to start: Int, in bytes: JSONBytes, by metric: VectorMetric
  ) -> Double? {
    var (sums, position) = (VectorSums(), 0)
    let areNumbers = bytes.forEachNumber(at: start) { other in
      guard position < vector.count else { return false }
      sums.add(vector[position], other)
      position += 1
      return true
    }
    return areNumbers && position == vector.count ? sums.distance(by: metric) : nil
  }

  /// The distance of two vectors of the same length; `nil` if they have none.
  package static func between(
    _ left: some Sequence<Double>, _ right: some Sequence<Double>, by metric: VectorMetric
  ) -> Double? {
    var sums = VectorSums()
    for (left, right) in zip(left, right) { sums.add(left, right) }
    return sums.distance(by: metric)
  }
}

/// The sums that the distance of two vectors is computed from.
private struct VectorSums {
  private var (product, left, right, squares) = (0.0, 0.0, 0.0, 0.0)

  mutating func add(_ first: Double, _ second: Double) {
    product += first * second
    left += first * first
    right += second * second
    squares += (first - second) * (first - second)
  }

  /// Sums beyond the range of doubles yield no distance.
  func distance(by metric: VectorMetric) -> Double? {
    let distance: Double
    switch metric {
    case .cosine:
      guard left > 0, right > 0, left.isFinite, right.isFinite else { return nil }
      distance = 1 - product / (left.squareRoot() * right.squareRoot())
    case .euclidean: distance = squares.squareRoot()
    case .dot: distance = -product
    }
    return distance.isFinite ? distance : nil
  }
}
