import CDTRandomDocuments
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTSelector

/// The bounds that codes of vectors give.
@Suite struct VectorProbeTests {
  static let lengths = [1, 2, 3, 7, 8, 9, 16, 17, 100, 384, 1_536]

  private static func vector(_ length: Int, _ random: inout RandomDocuments) -> [Double] {
    let size = random.pick([1, 1, 1, 1e-3, 1e50, 1e-50, 1e70, 1e-70, 1e-170, 1e200, 1e-300])
    return (0..<length).map { _ in
      random.chance(15) ? 0 : size * Double(random.number(below: 2_001) - 1_000) / 500
    }
  }

  private static func bounds(_ probe: VectorProbe, of vectors: [[Double]]) throws -> [Double] {
    let row: [UInt8] = vectors.flatMap { [7] + VectorCode($0).entry }
    var bounds: [Double] = []
    try row.withUnsafeBytes { row in
      try probe.forEachBound(in: row, key: 0) { number, bound in
        #expect(number == 7)
        bounds.append(bound)
      }
    }
    return bounds
  }

  @Test(arguments: lengths, VectorMetric.allCases)
  func `a bound is never above the distance`(length: Int, metric: VectorMetric) throws {
    var random = RandomDocuments(seed: testSeed(9_200 + UInt64(length)))
    for _ in 0..<(2_000 / length + 20) {
      let vector = Self.vector(length, &random)
      guard let probe = VectorProbe(vector, metric) else { continue }
      // Also vectors with the same and the opposite direction.
      let factor = random.pick([1, -1, 3, 1e-9, 1.000_000_001])
      let others = (0..<5).map { _ in Self.vector(length, &random) } + [vector.map { $0 * factor }]
      for (other, bound) in zip(others, try Self.bounds(probe, of: others)) {
        let distance = Distance.between(vector, other, by: metric)
        #expect(bound <= distance ?? .infinity, "\(vector) \(other)")
        #expect(!bound.isNaN)
      }
    }
  }

  @Test func `a bound is close to the distance`() throws {
    var random = RandomDocuments(seed: testSeed(9_300))
    func vector() -> [Double] { (0..<384).map { _ in Double(random.number(below: 2_001) - 1_000) } }
    for metric in VectorMetric.allCases {
      let (vector, others) = (vector(), (0..<100).map { _ in vector() })
      let probe = try #require(VectorProbe(vector, metric))
      let zero = [Double](repeating: 0, count: 384)
      let norm = try #require(Distance.between(zero, vector, by: .euclidean))
      let unit = metric == .cosine ? 1 : metric == .euclidean ? norm : norm * norm
      for (other, bound) in zip(others, try Self.bounds(probe, of: others)) {
        let distance = try #require(Distance.between(vector, other, by: metric))
        #expect(distance - bound < 0.02 * unit)
      }
    }
  }

  @Test func `a vector without a usable norm is not a probe`() {
    for vector in [[0, 0], [1e-200, 0], [1e200, 1], [1e-61, 0]] {
      #expect(VectorProbe(vector, .euclidean) == nil)
    }
  }

  @Test func `rows fill pages`() {
    for length in [256, 384, 512, 768, 1_024, 1_536, 3_072] {
      let layout = VectorLayout(length: length)
      let bytes = layout.slots * layout.entrySize
      let pages = (bytes + 34 + 4_063) / 4_064
      #expect(Double(pages * 4_096) <= 1.15 * Double(layout.slots * length), "\(length)")
    }
    #expect(VectorLayout(length: 1).slots < 256 && VectorLayout(length: 65_536).slots == 1)
  }
}
