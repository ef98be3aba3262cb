/// The characters that are equal when case is ignored: mappings to single characters of another case connect them.
enum CaseClasses {
  /// The other members of each character's class.
  static let others: [UInt32: Set<UInt32>] = {
    var classes: [UInt32: Set<UInt32>] = [:]
    // No character above has a case. Those that are left out, İ and ı, have another case in Turkish alone.
    for number in UInt32(0)...0x1_FFFF where number != 0x130 && number != 0x131 {
      guard let properties = Unicode.Scalar(number)?.properties, properties.changesWhenCaseMapped else {
        continue
      }
      var members: Set = [number]
      for mapping in [properties.lowercaseMapping, properties.uppercaseMapping, properties.titlecaseMapping] {
        let scalars = mapping.unicodeScalars
        if scalars.count == 1 { members.formUnion(scalars.map(\.value)) }
      }
      for member in members { members.formUnion(classes[member] ?? []) }
      for member in members { classes[member] = members }
    }
    return Dictionary(uniqueKeysWithValues: classes.map { ($0, $1.subtracting([$0])) })
  }()

  /// The characters that are equal to one of a range, and are not in it.
  static func additions(to range: ClosedRange<UInt32>) -> [ClosedRange<UInt32>] {
    let cased =
      range.count < others.count ? range.filter { others[$0] != nil } : others.keys.filter(range.contains)
    let found = Set(cased.flatMap { others[$0] ?? [] }).filter { !range.contains($0) }
    return found.sorted().map { $0...$0 }
  }
}
