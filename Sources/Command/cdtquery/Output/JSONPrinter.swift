import CDTJSON

/// Writes compact JSON text over several lines, or in colors.
struct JSONPrinter {
  let isPretty: Bool
  let isColored: Bool
  /// The indentation of the first level.
  var margin = 0

  private var output: [UInt8] = []

  init(isPretty: Bool, isColored: Bool, margin: Int = 0) {
    self.isPretty = isPretty
    self.isColored = isColored
    self.margin = margin
  }

  /// The sequences that set a color of a terminal: those of names, strings, and other values.
  private enum Color: String {
    case name = "34;1"
    case string = "32"
    case other = "36"
  }

  /// The text of a document, valid until the next call.
  mutating func text(of document: UnsafeRawBufferPointer) -> [UInt8] {
    output.removeAll(keepingCapacity: true)
    let bytes = JSONBytes(document)
    // Whether each of the open containers is an object.
    var areObjects: [Bool] = []
    var isName = false
    var offset = 0
    while offset < bytes.count {
      let byte = bytes[offset]
      var end = offset + 1
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        output.append(byte)
        if bytes[end] == UInt8(ascii: "}") || bytes[end] == UInt8(ascii: "]") {
          output.append(bytes[end])
          end += 1
        } else {
          isName = byte == UInt8(ascii: "{")
          areObjects.append(isName)
          feed(areObjects.count)
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        _ = areObjects.popLast()
        feed(areObjects.count)
        output.append(byte)
      case UInt8(ascii: ","):
        output.append(byte)
        isName = areObjects.last == true
        feed(areObjects.count)
      case UInt8(ascii: ":"):
        output.append(byte)
        if isPretty { output.append(UInt8(ascii: " ")) }
        isName = false
      default:
        end = bytes.endOfValue(at: offset)
        paint(bytes.slice(offset, end), isName ? .name : byte == UInt8(ascii: "\"") ? .string : .other)
      }
      offset = end
    }
    return output
  }

  private mutating func feed(_ depth: Int) {
    guard isPretty else { return }
    output.append(UInt8(ascii: "\n"))
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: margin + 2 * depth))
  }

  private mutating func paint(_ text: UnsafeRawBufferPointer, _ color: Color) {
    guard isColored else { return output.append(contentsOf: text) }
    output += "\u{1B}[\(color.rawValue)m".utf8
    output.append(contentsOf: text)
    output += "\u{1B}[0m".utf8
  }
}
