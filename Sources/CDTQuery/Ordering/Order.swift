import CDTPlatform
package import JSON

extension Order {
  /// How one number stands to another, exactly, whole numbers against doubles too.
  @inline(__always)
  package init(_ left: JSONNumber, _ right: JSONNumber) {
    self = left < right ? .ascending : left == right ? .same : .descending
  }

  /// How one string stands to another, byte for byte.
  @inline(__always)
  package init(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) {
    let difference = Bytes.compare(left, right, count: min(left.count, right.count))
    if difference != 0 {
      self = difference < 0 ? .ascending : .descending
      return
    }
    self = left.count < right.count ? .ascending : left.count == right.count ? .same : .descending
  }
}
