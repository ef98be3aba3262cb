/// The Unicode Collation Algorithm (UTS #10), of which only the primary weights are used. Punctuation has weights like other
/// characters ("non-ignorable").
///
/// The folded form of a string is the sequence of its weights, each written so that the order of bytes is that of weights, that
/// none is the beginning of another, and that the whole is UTF-8:
///
/// | weight | bytes |
/// |---|---|
/// | the *n*-th of the frequent ones: digits, letters, some punctuation | 2*n* |
/// | between the *n*-th and the next | 2*n* + 1, the difference + 1 as a character |
/// | after the last | the difference + 128 as a character |
///
/// A string is taken apart into clusters: a character, and those after it that can combine with it or with one another. A
/// cluster of one character has the weights of the table. Only others are decomposed, and searched for contractions. As in
/// Unicode's Stream-Safe Text Format, there is an upper limit to what can combine, so that the cost is bounded.
struct CollationTable: Sendable {
  static let shared = CollationTable(CollationData.weights)

  /// The maximum number of characters of a cluster.
  private static let longestCluster = 32

  /// The folded form of a character or a contraction: a part of `forms`.
  private struct Entry {
    var start: UInt32
    var count: UInt8
    /// Whether the character can combine with those before it.
    var combines = false
  }

  /// The weights of a script whose characters are not in the table.
  private struct ImplicitRange {
    let characters: ClosedRange<UInt32>
    let base: UInt32
    let origin: UInt32
  }

  private var frequent: [UInt32] = []
  private var forms: [UInt8] = []
  private var entries: [Entry?] = []
  /// The position of the 256 entries of each page of characters; `nil` for a page without entries.
  private var pages = [Int?](repeating: nil, count: 0x1100)
  private var contractions: [[UInt32]: Entry] = [:]
  private var longestContraction = 0
  /// The first characters of contractions.
  private var initials: Set<UInt32> = []
  private var implicit: [ImplicitRange] = []
  private var classes: [UInt32: UInt8] = [:]
  private var decompositions: [UInt32: [UInt32]] = [:]

  init(_ data: String) {
    var reader = CollationReader(data)
    frequent = reader.list(of: reader.unsigned())
    readWeights(&reader)
    let continuations = readContractions(&reader)
    for _ in 0..<reader.unsigned() {
      let (first, last, base, origin) = (
        reader.unsigned(), reader.unsigned(), reader.unsigned(), reader.unsigned()
      )
      if first <= last { implicit.append(.init(characters: first...last, base: base, origin: origin)) }
    }
    reader.forEachRun { point, reader in
      let (count, combiningClass) = (reader.unsigned(), UInt8(truncatingIfNeeded: reader.unsigned()))
      for number in 0..<count { classes[point &+ number] = combiningClass }
      return count
    }
    reader.forEachRun { point, reader in
      decompositions[point] = reader.list(of: reader.unsigned())
      return 1
    }
    for character in continuations.union(classes.keys) { update(character) { $0.combines = true } }
    for (character, parts) in decompositions {
      guard let first = parts.first, classes[first] != nil || continuations.contains(first) else { continue }
      update(character) { $0.combines = true }
    }
  }

  private mutating func readWeights(_ reader: inout CollationReader) {
    var last: UInt32 = 0
    reader.forEachRun { point, reader in
      let count = reader.unsigned()
      guard count > 0 else {
        let weights = (0..<reader.unsigned()).map { _ in
          last = UInt32(truncatingIfNeeded: Int64(last) + Int64(reader.signed()))
          return last
        }
        insert(weights, for: point)
        return 1
      }
      let (first, step) = (Int64(last) + Int64(reader.signed()), Int64(reader.signed()))
      for number in 0..<count {
        let weight = UInt32(truncatingIfNeeded: first + step * Int64(number))
        // Without a weight, a character is ignored.
        insert(weight == 0 ? [] : [weight], for: point &+ number)
        if weight != 0 { last = weight }
      }
      return count
    }
  }

  /// - Returns: The characters after the first of contractions.
  private mutating func readContractions(_ reader: inout CollationReader) -> Set<UInt32> {
    var continuations: Set<UInt32> = []
    var known: (characters: [UInt32], weights: [UInt32]) = ([], [])
    for _ in 0..<reader.unsigned() {
      let characters = Self.list(after: &known.characters, &reader)
      let weights = Self.list(after: &known.weights, &reader)
      contractions[characters] = appended(weights)
      longestContraction = max(longestContraction, characters.count)
      if let first = characters.first { initials.insert(first) }
      continuations.formUnion(characters.dropFirst())
    }
    return continuations
  }

  /// A list whose numbers are differences from those in the same places before.
  private static func list(after known: inout [UInt32], _ reader: inout CollationReader) -> [UInt32] {
    (0..<Int(reader.unsigned())).map { place in
      if place == known.count { known.append(0) }
      known[place] = UInt32(truncatingIfNeeded: Int64(known[place]) + Int64(reader.signed()))
      return known[place]
    }
  }

  // MARK: Entries

  private mutating func appended(_ weights: [UInt32]) -> Entry {
    let start = forms.count
    var bytes: [UInt8] = []
    for weight in weights { append(weight: weight, to: &bytes) }
    forms += bytes
    return Entry(
      start: UInt32(truncatingIfNeeded: start), count: UInt8(truncatingIfNeeded: forms.count - start))
  }

  private mutating func insert(_ weights: [UInt32], for character: UInt32) {
    let page = Int(character >> 8)
    guard page < pages.count else { return }
    if pages[page] == nil {
      pages[page] = entries.count
      entries += [Entry?](repeating: nil, count: 256)
    }
    guard let start = pages[page] else { return }
    entries[start + Int(character & 0xFF)] = appended(weights)
  }

  private mutating func update(_ character: UInt32, _ body: (inout Entry) -> Void) {
    guard let start = pages[Int(character >> 8)], var entry = entries[start + Int(character & 0xFF)] else {
      return
    }
    body(&entry)
    entries[start + Int(character & 0xFF)] = entry
  }

  private func entry(of character: UInt32) -> Entry? {
    pages[Int(character >> 8)].flatMap { entries[$0 + Int(character & 0xFF)] }
  }

  private func append(weight: UInt32, to bytes: inout [UInt8]) {
    let number = (frequent.lastIndex { $0 <= weight } ?? -1) + 1
    let below = number > 0 ? frequent[number - 1] : 0
    if number > 0, below == weight { return bytes.append(UInt8(truncatingIfNeeded: 2 * number)) }
    if number < frequent.count { bytes.append(UInt8(truncatingIfNeeded: 2 * number + 1)) }
    let difference = weight - below + (number < frequent.count ? 1 : 0x80)
    // Surrogates are not characters.
    let scalar = Unicode.Scalar(difference < 0xD800 ? difference : difference + 0x800) ?? "\u{10FFFF}"
    bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
  }

  // MARK: Folding

  func fold(_ string: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    if string.allSatisfy({ $0 < 0x80 }) {
      for byte in string { append(UInt32(byte), to: &bytes) }
      return
    }
    var cluster: [UInt32] = []
    for scalar in String(decoding: string, as: UTF8.self).unicodeScalars {
      if cluster.count == Self.longestCluster || entry(of: scalar.value)?.combines != true {
        append(cluster: cluster, to: &bytes)
        cluster.removeAll(keepingCapacity: true)
      }
      cluster.append(scalar.value)
    }
    append(cluster: cluster, to: &bytes)
  }

  private func append(_ entry: Entry, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: forms[Int(entry.start)..<Int(entry.start) + Int(entry.count)])
  }

  /// Appends the form of a character that combines with no other.
  private func append(_ character: UInt32, to bytes: inout [UInt8]) {
    if let entry = entry(of: character) { return append(entry, to: &bytes) }
    if let parts = Self.hangul(character) { return parts.forEach { append($0, to: &bytes) } }
    let range = implicit.last { $0.characters.contains(character) }
    let distance = character - (range?.origin ?? 0)
    append(weight: (range?.base ?? 0xFBC0) + distance >> 15, to: &bytes)
    append(weight: distance & 0x7FFF | 0x8000, to: &bytes)
  }

  /// The consonants and the vowel of a syllable.
  private static func hangul(_ character: UInt32) -> [UInt32]? {
    guard (0xAC00...0xD7A3).contains(character) else { return nil }
    let number = character - 0xAC00
    let parts = [0x1100 + number / 588, 0x1161 + number % 588 / 28]
    return number % 28 == 0 ? parts : parts + [0x11A7 + number % 28]
  }

  private func append(cluster: [UInt32], to bytes: inout [UInt8]) {
    guard cluster.count > 1 else { return cluster.forEach { append($0, to: &bytes) } }
    var rest = decomposed(cluster)[...]
    while let first = rest.first {
      guard initials.contains(first), let contraction = removeContraction(from: &rest) else {
        append(first, to: &bytes)
        rest.removeFirst()
        continue
      }
      append(contraction, to: &bytes)
    }
  }

  /// The canonical decomposition, with combining characters in canonical order.
  private func decomposed(_ cluster: [UInt32]) -> [UInt32] {
    var parts = cluster.flatMap { Self.hangul($0) ?? decompositions[$0] ?? [$0] }
    for place in parts.indices {
      guard let own = classes[parts[place]] else { continue }
      var place = place
      while place > 0, let other = classes[parts[place - 1]], other > own {
        parts.swapAt(place, place - 1)
        place -= 1
      }
    }
    return parts
  }

  /// Removes the longest contraction at the beginning, also if combining characters that do not block it are between its
  /// parts: these stay.
  private func removeContraction(from rest: inout ArraySlice<UInt32>) -> Entry? {
    let lengths = (2...max(2, longestContraction)).reversed()
    let length = lengths.first { rest.count >= $0 && contractions[Array(rest.prefix($0))] != nil } ?? 1
    var found = Array(rest.prefix(length))
    var others: [UInt32] = []
    var last: UInt8 = 0
    var tail = rest.dropFirst(length)
    while let next = tail.first, let own = classes[next] {
      if own > last, contractions[found + [next]] != nil {
        found.append(next)
      } else {
        others.append(next)
        last = own
      }
      tail.removeFirst()
    }
    guard let entry = contractions[found] else { return nil }
    rest = (others + tail)[...]
    return entry
  }
}
