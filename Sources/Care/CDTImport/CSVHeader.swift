import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery

/// The header of a table, which makes objects of its records.
///
/// ```
/// code,name.common,name.official   CH,Switzerland,Swiss Confederation
/// →  {"code": "CH", "name": {"common": "Switzerland", "official": "Swiss Confederation"}}
/// ```
struct CSVHeader {
  /// The number of columns.
  var count: Int { columns.count }
  /// The paths of the columns in documents.
  var paths: [String] {
    columns.map { column in
      let names = Self.path(column.name, isFlat: options.isFlat)
      return FieldPath(segments: names.map { FieldPath.Segment(name: Array($0.utf8)) }).text
    }
  }
  /// The name of a column that is a member of an object.
  private(set) var nestedName: String?
  /// A name that several columns have, whose values become an array.
  private(set) var repeatedName: String?
  /// The columns to which the header gives no name.
  private var withoutName: [Int] = []

  private var columns: [Column] = []
  private var root = Node(name: [])
  private let options: DocumentImporter.TableOptions

  private struct Column {
    let name: String
    /// The numbers and the texts of its cells.
    var numbers = 0
    var texts = 0
    /// Whether cells are strings also if they look like other values.
    let isText: Bool
  }

  /// A member of the objects.
  private struct Node {
    /// Its quoted name and a colon.
    let name: [UInt8]
    var columns: [Int] = []
    var children: [Node] = []
    var positions: [KeyBytes: Int] = [:]
  }

  /// A column that can't be one.
  struct Fault: Error {
    let message: String
  }

  /// The most names on the path of a column: JSON that is deeper can't be saved.
  private static let maximumDepth = JSONParsingOptions().maximumDepth

  /// - Parameter given: The names; `nil` for a column without one, which gets a name that no other column has.
  init(_ given: [String?], _ options: DocumentImporter.TableOptions) throws(Fault) {
    self.options = options
    let known = Set(given.compactMap { $0.map(KeyBytes.init) })
    let names = given.enumerated().map { number, name in
      if let name { return name }
      withoutName.append(number)
      var name = "column\(number + 1)"
      while known.contains(KeyBytes(name)) { name += "_" }
      return name
    }
    let textColumns = Set(options.textColumns.map(KeyBytes.init))
    var distinct: Set<KeyBytes> = []
    let areAllText = options.textColumns.contains("*")
    for (number, name) in names.enumerated() {
      let path = Self.path(name, isFlat: options.isFlat)
      guard path.count <= Self.maximumDepth else {
        throw Fault(
          message:
            "the name of column \(number + 1) has more than \(Self.maximumDepth) parts between dots, the most that objects can be nested; rename it, or give --flat to keep the dots in the names"
        )
      }
      if path.count > 1, nestedName == nil { nestedName = name }
      if repeatedName == nil, !distinct.insert(KeyBytes(name)).inserted { repeatedName = name }
      try Self.insert(number, path[...], named: name, into: &root)
      columns.append(
        Column(name: name, isText: name == "_id" || areAllText || textColumns.contains(KeyBytes(name))))
    }
    for name in options.textColumns where name != "*" && !names.contains(where: { $0.hasSameBytes(as: name) })
    {
      throw Fault(
        message: "there is no column \(DatastoreError.quoted(name)); check the names given to --text-columns")
    }
  }

  /// The names on the path of a column. A dot divides names that begin with a letter and consist of letters, digits, `_`
  /// and `-`; any other dot, and `\.`, is part of a name.
  private static func path(_ name: String, isFlat: Bool) -> [String] {
    var parts: [[UInt8]] = [[]]
    var bytes = name.utf8.makeIterator()
    var isEscaped = false
    while let byte = bytes.next() {
      if isEscaped, byte != UInt8(ascii: ".") { parts[parts.count - 1].append(UInt8(ascii: "\\")) }
      if byte == UInt8(ascii: "."), !isEscaped {
        parts.append([])
      } else if byte != UInt8(ascii: "\\") || isEscaped {
        parts[parts.count - 1].append(byte)
      }
      isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
    }
    if isEscaped { parts[parts.count - 1].append(UInt8(ascii: "\\")) }
    let isPath = !isFlat && parts.allSatisfy(isPlain)
    return (isPath ? parts : [Array(parts.joined(separator: [UInt8(ascii: ".")]))])
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private static func isPlain(_ name: [UInt8]) -> Bool {
    guard let first = name.first, isLetter(first) else { return false }
    return name.allSatisfy {
      isLetter($0) || $0.isDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { byte.isLetter || byte >= 0x80 }

  private static func insert(
    _ column: Int, _ path: ArraySlice<String>, named name: String, into node: inout Node
  ) throws(Fault) {
    guard let first = path.first else { return }
    let position: Int
    if let known = node.positions[KeyBytes(first)] {
      let isColumn = !node.children[known].columns.isEmpty
      guard isColumn == (path.count == 1) else {
        throw Fault(
          message:
            "the column \(DatastoreError.quoted(name)) and others can't both be fields, as one is a member of the other; rename one, or give --flat to keep the dots in the names"
        )
      }
      guard name != "_id" else { throw Fault(message: "two columns are named \"_id\"; rename one") }
      position = known
    } else {
      position = node.children.count
      node.positions[KeyBytes(first)] = position
      node.children.append(Node(name: JSONString.quoted(first) + [UInt8(ascii: ":")]))
    }
    if path.count == 1 {
      node.children[position].columns.append(column)
    } else {
      try insert(column, path.dropFirst(), named: name, into: &node.children[position])
    }
  }

  // MARK: Records

  /// Writes the object of a record, which has no more cells than there are columns.
  mutating func write(_ cells: [CSVCell], to output: inout [UInt8]) {
    _ = write(root, cells, to: &output)
  }

  /// - Returns: Whether the object has members.
  private mutating func write(_ node: Node, _ cells: [CSVCell], to output: inout [UInt8]) -> Bool {
    output.append(UInt8(ascii: "{"))
    var isEmpty = true
    for child in node.children {
      let end = output.count
      if !isEmpty { output.append(UInt8(ascii: ",")) }
      output += child.name
      let isWritten =
        child.columns.isEmpty
        ? write(child, cells, to: &output) : write(child.columns, cells, to: &output)
      if isWritten { isEmpty = false } else { output.removeLast(output.count - end) }
    }
    output.append(UInt8(ascii: "}"))
    return !isEmpty
  }

  /// Writes the value of a column, or the array of the values of several.
  ///
  /// - Returns: Whether there is a value.
  private mutating func write(_ columns: [Int], _ cells: [CSVCell], to output: inout [UInt8]) -> Bool {
    guard columns.count > 1 else { return columns.first.map { write($0, cells, to: &output) } ?? false }
    output.append(UInt8(ascii: "["))
    var isEmpty = true
    for column in columns where write(column, cells, to: &output) {
      output.append(UInt8(ascii: ","))
      isEmpty = false
    }
    if !isEmpty { output.removeLast() }
    output.append(UInt8(ascii: "]"))
    return !isEmpty
  }

  private mutating func write(_ column: Int, _ cells: [CSVCell], to output: inout [UInt8]) -> Bool {
    guard column < cells.count else { return false }
    let content = cells[column].write(isText: columns[column].isText, options, to: &output)
    if content == .number { columns[column].numbers += 1 }
    if content == .text { columns[column].texts += 1 }
    return content != .nothing
  }

  // MARK: Notices

  /// A column of texts that has some numbers.
  struct MixedColumn: Hashable {
    let name: String
    let numbers, texts: Int
  }

  /// The columns of the records so far in which less than half of the values are numbers, at most three. They are returned once.
  mutating func takeMixedColumns() -> [MixedColumn] {
    let mixed = columns.filter { $0.numbers > 0 && $0.numbers < $0.texts }.prefix(3)
    for column in columns.indices { (columns[column].numbers, columns[column].texts) = (0, 0) }
    return mixed.map { MixedColumn(name: $0.name, numbers: $0.numbers, texts: $0.texts) }
  }

  /// The first column without a name that has a value in a record. One is returned at most.
  mutating func takeColumnWithoutName(in cells: [CSVCell]) -> (number: Int, name: String)? {
    let found = withoutName.first { $0 < cells.count && (!cells[$0].text.isEmpty || cells[$0].isQuoted) }
    guard let found else { return nil }
    withoutName = []
    return (found + 1, columns[found].name)
  }
}
