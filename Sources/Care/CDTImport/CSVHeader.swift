import CDTDatastore
import CDTJSON
import CDTPlatform

/// The header of a table, which makes objects of its records.
///
/// ```
/// code,name.common,name.official   CH,Switzerland,Swiss Confederation
/// →  {"code": "CH", "name": {"common": "Switzerland", "official": "Swiss Confederation"}}
/// ```
struct CSVHeader {
  /// The number of columns.
  var count: Int { columns.count }
  /// The name of a column that is a member of an object.
  private(set) var nestedName: String?

  private var columns: [Column] = []
  private var root = Node(name: [])
  private let options: DocumentImporter.TableOptions

  private struct Column {
    /// Whether cells are strings also if they look like other values.
    let isText: Bool
  }

  /// A member of the objects.
  private struct Node {
    /// Its quoted name and a colon.
    let name: [UInt8]
    var column: Int?
    var children: [Node] = []
    var positions: [KeyBytes: Int] = [:]
  }

  /// A column that can't be one.
  struct Fault: Error {
    let message: String
  }

  /// The most names on the path of a column: JSON that is deeper can't be saved.
  private static let maximumDepth = JSONParsingOptions().maximumDepth

  init(_ names: [String], _ options: DocumentImporter.TableOptions) throws(Fault) {
    self.options = options
    let textColumns = Set(options.textColumns.map(KeyBytes.init))
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
      try Self.insert(number, path[...], named: name, into: &root)
      columns.append(Column(isText: name == "_id" || areAllText || textColumns.contains(KeyBytes(name))))
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
      guard path.count > 1, node.children[known].column == nil else {
        throw Fault(
          message: node.children[known].column == nil || path.count > 1
            ? "the column \(DatastoreError.quoted(name)) and others can't both be fields, as one is a member of the other; rename one, or give --flat to keep the dots in the names"
            : "two columns are named \(DatastoreError.quoted(name)); name each once")
      }
      position = known
    } else {
      position = node.children.count
      node.positions[KeyBytes(first)] = position
      node.children.append(Node(name: JSONString.quoted(first) + [UInt8(ascii: ":")]))
    }
    if path.count == 1 {
      node.children[position].column = column
    } else {
      try insert(column, path.dropFirst(), named: name, into: &node.children[position])
    }
  }

  // MARK: Records

  /// Writes the object of a record, which has no more cells than there are columns.
  func write(_ cells: [CSVCell], to output: inout [UInt8]) {
    _ = write(root, cells, to: &output)
  }

  /// - Returns: Whether the object has members.
  private func write(_ node: Node, _ cells: [CSVCell], to output: inout [UInt8]) -> Bool {
    output.append(UInt8(ascii: "{"))
    var isEmpty = true
    for child in node.children {
      let end = output.count
      if !isEmpty { output.append(UInt8(ascii: ",")) }
      output += child.name
      let isWritten =
        child.column.map {
          $0 < cells.count && cells[$0].write(isText: columns[$0].isText, options, to: &output)
        }
        ?? write(child, cells, to: &output)
      if isWritten { isEmpty = false } else { output.removeLast(output.count - end) }
    }
    output.append(UInt8(ascii: "}"))
    return !isEmpty
  }
}
