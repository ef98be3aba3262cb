/// A table with aligned columns for the terminal, in any script.
struct TextTable {
  /// The header, a rule, and one line per row.
  let lines: [String]
  /// The number of columns that don't fit.
  let omitted: Int

  private static let widestCell = 40
  private static let narrowestCell = 8
  private static let gap = 2

  /// - Parameter width: The number of terminal columns that the lines may have; `nil` for any. The widest columns become
  ///   narrower then, and the last ones are left out if that is not enough.
  init(header: [String], rows: [[String]], width: Int? = nil) {
    var cells = ([header] + rows).map { $0.map { Self.shortened($0, to: Self.widestCell) } }
    var widths = header.indices.map { column in cells.map { DisplayWidth.of($0[column]) }.max() ?? 0 }
    if let width {
      widths = Self.fitted(widths, to: width)
      cells = cells.map { row in zip(row, widths).map { Self.shortened($0, to: $1) } }
    }
    omitted = header.count - widths.count
    lines = Self.lines(cells, widths)
  }

  /// Prints the table, with a header in bold on a terminal.
  func write() throws {
    for (number, line) in lines.enumerated() {
      let isBold = number == 0 && Terminal.hasColors
      try Array((isBold ? "\u{1B}[1m\(line)\u{1B}[0m" : line).utf8).withUnsafeBytes {
        try Output.standard.line($0)
      }
    }
  }

  /// The widths of the columns that fit, from the first.
  private static func fitted(_ widths: [Int], to width: Int) -> [Int] {
    var widths = widths
    func excess() -> Int { widths.reduce(0, +) + gap * max(0, widths.count - 1) - width }
    while excess() > 0, let widest = widths.max(), widest > narrowestCell {
      // All of the widest columns shrink to the next width, or as far as needed.
      let places = widths.indices.filter { widths[$0] == widest }
      let next = max(narrowestCell, widths.filter { $0 < widest }.max() ?? narrowestCell)
      let needed = (excess() + places.count - 1) / places.count
      for place in places { widths[place] = max(next, widest - needed) }
    }
    var rest = excess()
    while rest > 0, widths.count > 1 { rest -= widths.removeLast() + gap }
    if rest > 0 { widths = widths.map { min($0, max(1, width)) } }
    return widths
  }

  private static func lines(_ cells: [[String]], _ widths: [Int]) -> [String] {
    var lines = cells.map { row in
      let padded = zip(row, widths).map {
        $0 + String(repeating: " ", count: max(0, $1 - DisplayWidth.of($0)))
      }
      var line = padded.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
    lines.insert(widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "), at: 1)
    return lines
  }

  /// A cell has one line of limited width, without control characters, which a document could use to control the
  /// terminal.
  private static func shortened(_ text: String, to widest: Int) -> String {
    var line = ""
    var width = 0
    for character in text {
      let isControl = character.unicodeScalars.contains {
        $0.properties.generalCategory == .control || Terminal.controls($0)
      }
      let shown = isControl ? " " : character
      width += DisplayWidth.of(shown)
      if width > widest { return cut(line, to: widest) + "…" }
      line.append(shown)
    }
    return line
  }

  /// Cuts the line to make room for the ellipsis.
  private static func cut(_ line: String, to widest: Int) -> String {
    var line = line
    while DisplayWidth.of(line) >= widest, !line.isEmpty { line.removeLast() }
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
