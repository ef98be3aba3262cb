package import CDTPlatform
package import CDTSelector

/// A vector from which an index bounds the distances of its documents.
///
/// With unit vectors *v* and *q*, their codes times the scales *ṽ* and *q̃*, and the errors *e*:
/// |q·v − q̃·ṽ| ≤ e(v) + e(q) (1 + e(v)). This bounds the cosine, and with the norms the other metrics.
package struct VectorProbe: Sendable {
  private let layout: VectorLayout
  private let metric: VectorMetric
  private let norm: Double
  private let scale: Double
  private let error: Double
  private let codes: [Int16]

  /// At least the rounding errors of a cosine, here and in the matcher. Each of their sums of *n* numbers has a relative error of at most
  /// *n* × 2⁻⁵³, 7.3 × 10⁻¹² for the longest vector; there are fewer than ten of them, and a few roundings more.
  private static let slack = 1e-9

  /// - Returns: `nil` for a vector that is too long or too short.
  package init?(_ vector: [Double], _ metric: VectorMetric) {
    let code = VectorCode(vector)
    guard code.norm > 0, code.norm.isFinite else { return nil }
    (layout, self.metric) = (VectorLayout(length: vector.count), metric)
    (norm, scale, error) = (code.norm, Double(code.scale), Double(code.error))
    codes = code.codes.map(Int16.init)
  }

  /// The keys of the rows that have the vectors of documents, in order.
  package func keys(of documents: NumberSet) -> [Range<Int64>] {
    var blocks = Set<Int64>()
    documents.forEach { number in
      if let key = layout.place(of: number)?.key { blocks.insert(key) }
    }
    return blocks.sorted().map { $0..<$0 + Int64(VectorLayout.maximumParts) }
  }

  /// Calls `body` for each entry of a row with the number of the document, and a bound that the distance of the vector is not less than.
  package func forEachBound(
    in row: UnsafeRawBufferPointer, key: Int64, _ body: (_ number: Int64, _ bound: Double) -> Void
  ) throws(IndexDamage) {
    try layout.check(row)
    codes.withUnsafeBytes { codes in
      var start = 0
      while start < row.count {
        let entry = UnsafeRawBufferPointer(rebasing: row[start..<start + layout.entrySize])
        body(layout.number(key: key, slot: entry[0]), bound(entry, codes))
        start += layout.entrySize
      }
    }
  }

  private func bound(_ entry: UnsafeRawBufferPointer, _ codes: UnsafeRawBufferPointer) -> Double {
    func float(_ offset: Int) -> Double {
      Double(
        Float(bitPattern: UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: offset, as: UInt32.self))))
    }
    let other = Double(
      bitPattern: UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
    // Without a code, a document may have any distance.
    guard other.isFinite else { return -.infinity }
    let otherError = float(13)
    let product = Double(
      Self.product(UnsafeRawBufferPointer(rebasing: entry[VectorLayout.header...]), codes))
    // The cosine is not greater.
    let cosine = min(1, product * scale * float(9) + otherError + error * (1 + otherError)) + Self.slack
    let bound =
      switch metric {
      case .cosine: other == 0 ? .infinity : 1 - cosine
      case .dot: -norm * other * cosine
      case .euclidean:
        max(
          0,
          norm * norm + other * other - 2 * norm * other * cosine
            - Self.slack * (norm + other) * (norm + other)
        ).squareRoot()
      }
    return bound.isNaN ? -.infinity : bound
  }

  /// The sum of the products of codes: at most 65,536 × 127², so it fits in 32 bits.
  private static func product(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    var sums = SIMD8<Int32>()
    var position = 0
    while position + 8 <= left.count {
      let first = SIMD8<Int16>(
        truncatingIfNeeded: left.loadUnaligned(fromByteOffset: position, as: SIMD8<Int8>.self))
      let second = right.loadUnaligned(fromByteOffset: 2 * position, as: SIMD8<Int16>.self)
      sums &+= SIMD8<Int32>(truncatingIfNeeded: first) &* SIMD8<Int32>(truncatingIfNeeded: second)
      position += 8
    }
    var sum = sums.wrappedSum()
    while position < left.count {
      let second = right.loadUnaligned(fromByteOffset: 2 * position, as: Int16.self)
      sum &+= Int32(Int8(bitPattern: left[position])) &* Int32(second)
      position += 1
    }
    return sum
  }
}
