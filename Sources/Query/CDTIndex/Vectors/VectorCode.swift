/// The norm of a vector and the 8-bit codes of its unit vector.
struct VectorCode {
  let norm: Double
  private(set) var scale: Float = 0
  private(set) var error: Float = 0
  private(set) var codes: [Int8]

  /// Norms for which the rounding errors of ``VectorProbe/slack`` hold, since neither squares nor products leave the range of doubles.
  private static let usableNorms = 1e-60...1e60

  /// The code of a vector; without usable codes the norm is infinity.
  init(_ vector: [Double]) {
    let norm = vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
    codes = [Int8](repeating: 0, count: vector.count)
    guard Self.usableNorms.contains(norm) else {
      self.norm = vector.allSatisfy { $0 == 0 } ? 0 : .infinity
      return
    }
    self.norm = norm
    scale = Float(vector.reduce(0) { max($0, abs($1)) } / norm / 127).nextUp
    let step = Double(scale)
    var squares = 0.0
    for position in vector.indices {
      let unit = vector[position] / norm
      let code = (unit / step).rounded()
      codes[position] = Int8(clamping: Int(code))
      squares += (unit - code * step) * (unit - code * step)
    }
    error = Float(squares.squareRoot()).nextUp
  }

  /// The code as an entry of a row, without its slot.
  var entry: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(VectorLayout.header + codes.count)
    withUnsafeBytes(of: norm.bitPattern.littleEndian) { bytes += $0 }
    withUnsafeBytes(of: scale.bitPattern.littleEndian) { bytes += $0 }
    withUnsafeBytes(of: error.bitPattern.littleEndian) { bytes += $0 }
    codes.withUnsafeBytes { bytes += $0 }
    return bytes
  }
}
