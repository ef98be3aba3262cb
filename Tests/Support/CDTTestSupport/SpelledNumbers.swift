/// Draws the texts of numbers in every spelling of RFC 8259, in the range of a double: `1.10`, `-0.0`, `12E+003`, `1e-400`.
package struct SpelledNumbers {
  private var generator: SeededGenerator

  package init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
  }

  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  /// The text of a number.
  package mutating func number() -> String {
    var text = below(3) == 0 ? "-" : ""
    text += below(4) == 0 ? "0" : String(1 + below(9)) + digits(below(6) == 0 ? 24 : 7)
    if below(2) == 0 {
      text += "." + digits(below(4) == 0 ? 30 : 3) + String(below(10))
      if below(3) == 0 { text += String(repeating: "0", count: 1 + below(4)) }
    }
    if below(3) == 0 {
      text += below(2) == 0 ? "e" : "E"
      let exponent = below(3) == 0 ? -below(450) : below(270)
      text += exponent < 0 ? "-" : below(2) == 0 ? "+" : ""
      text += String(repeating: "0", count: below(3)) + String(abs(exponent))
    }
    return text
  }

  private mutating func digits(_ most: Int) -> String {
    (0..<below(most)).map { _ in String(below(10)) }.joined()
  }

  /// The text of an object as a datastore stores it, with a number at every kind of place.
  package mutating func body() -> String {
    let numbers = (0..<6).map { _ in number() }
    return #"{"n":\#(numbers[0]),"list":[\#(numbers[1]),[\#(numbers[2])],{"x":\#(numbers[3])}],"#
      + #""deep":{"z":{"y":\#(numbers[4])},"é\"":\#(numbers[5])},"plain":[7,0.5,1.0,-0],"text":"1.10"}"#
  }
}
