/// A table with aligned columns for the terminal, in any script.
struct TextTable {
  let header: [String]
  let rows: [[String]]

  private static let widestCell = 40

  /// The header, a rule, and one line per row.
  var lines: [String] {
    let cells = ([header] + rows).map { $0.map(Self.shortened) }
    let widths = header.indices.map { column in cells.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
    var lines = cells.map { row in
      let padded = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - DisplayWidth.of($0)) }
      var line = padded.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
    lines.insert(widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "), at: 1)
    return lines
  }

  /// A cell has one line of limited width, without control characters, which a document could use to control the
  /// terminal.
  private static func shortened(_ text: String) -> String {
    var line = ""
    var width = 0
    for character in text {
      let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
      let shown = isControl ? " " : character
      width += DisplayWidth.of(shown)
      if width > widestCell { return cut(line) + "…" }
      line.append(shown)
    }
    return line
  }

  /// Cuts the line to make room for the ellipsis.
  private static func cut(_ line: String) -> String {
    var line = line
    while DisplayWidth.of(line) >= widestCell { line.removeLast() }
    return line
  }
}

/// The number of terminal columns of a text.
enum DisplayWidth {
  static func of(_ text: String) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + of($1) }
  }

  static func of(_ character: Character) -> Int {
    if character.unicodeScalars.contains(where: isWide) { return 2 }
    return character.unicodeScalars.allSatisfy(isZero) ? 0 : 1
  }

  private static func isZero(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: true
    default: false
    }
  }

  /// East Asian Width W and F, and emoji.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value == 0xFE0F || scalar.properties.isEmojiPresentation { return true }
    return wide.contains { $0.contains(scalar.value) }
  }

  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
    0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD,
  ]
}
