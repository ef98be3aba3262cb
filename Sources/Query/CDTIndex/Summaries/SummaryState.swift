import CDTJSON

/// The state of a group of a summary: the number of documents, and the sums of their numbers and of the squares of these.
package struct SummaryState: Sendable {
  package struct Sums: Sendable {
    package var numbers = ExactSum()
    package var squares = ExactSum()
  }

  package private(set) var documents = 0
  /// The sums of each summed field.
  package private(set) var sums: [Sums]

  /// - Parameter values: The number of summed fields.
  package init(values: Int) {
    sums = Array(repeating: Sums(), count: values)
  }

  /// Whether nothing would change if the state were added to another state.
  var isEmpty: Bool { documents == 0 && sums.allSatisfy { $0.numbers.isEmpty && $0.squares.isEmpty } }

  /// Adds a document with these values, of which only numbers count, or removes it.
  package mutating func add(_ values: [JSONNumber?], isRemoved: Bool = false) {
    documents += isRemoved ? -1 : 1
    for (slot, number) in values.enumerated() {
      guard let number else { continue }
      if isRemoved { sums[slot].numbers.remove(number) } else { sums[slot].numbers.add(number) }
      sums[slot].squares.addSquare(of: number, isRemoved: isRemoved)
    }
  }

  /// Adds the documents of another state, whose counts may be negative.
  package mutating func add(_ other: SummaryState) {
    documents += other.documents
    for slot in sums.indices {
      sums[slot].numbers.add(other.sums[slot].numbers)
      sums[slot].squares.add(other.sums[slot].squares)
    }
  }

  // MARK: Storing

  private static let maximumDocuments: Int64 = 1 << 53

  /// The sums as stored. Equal states have equal bytes.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for sum in sums {
      sum.numbers.append(to: &bytes)
      sum.squares.append(to: &bytes)
    }
    return bytes
  }

  /// Reads a state that was stored.
  ///
  /// - Throws: ``IndexDamage`` if it is not valid.
  package init(documents: Int64, _ bytes: UnsafeRawBufferPointer, values: Int) throws(IndexDamage) {
    self.init(values: values)
    var offset = 0
    for slot in sums.indices {
      guard let numbers = ExactSum(bytes, at: &offset), let squares = ExactSum(bytes, at: &offset) else {
        throw .invalidGroup
      }
      sums[slot] = Sums(numbers: numbers, squares: squares)
    }
    guard 0...Self.maximumDocuments ~= documents, offset == bytes.count else { throw .invalidGroup }
    self.documents = Int(documents)
  }
}

extension IndexDamage {
  fileprivate static let invalidGroup = unreadable("a group of a summary is invalid")
}
