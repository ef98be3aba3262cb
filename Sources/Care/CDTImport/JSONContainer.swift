/// An array or an object whose elements are documents, or have the documents in them.
struct JSONContainer {
  /// The line that it has to end on, if each value of the text is one line.
  var line: Int?
  /// Whether it is one of CouchDB's, whose documents may have attachments without content.
  var isOfCouchDB = false
  var isObject = false
  /// The number of objects around it.
  var depth = 0
  /// The object around it, if other members than its own are refused.
  var wrapper: CouchWrapper?
  /// The path from an element to its document.
  var rest: ArraySlice<String> = []
  /// The name of the element, in an object.
  private(set) var name: String?
  private(set) var isAtStart = true

  private var end: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

  /// Moves to the next element, which is an object. Behind the last, leaves the container and skips the rest of the objects around it.
  ///
  /// - Returns: Whether there is one.
  mutating func next(_ input: inout InputBuffer) throws -> Bool {
    try checkLine(&input)
    let byte = try input.nextByte()
    if byte == end {
      try leave(&input)
      return false
    }
    if !isAtStart {
      guard let byte else {
        let noun = isObject ? "object" : "array"
        throw ImportError("the text ends inside the \(noun); check that it is complete", at: input)
      }
      guard byte == UInt8(ascii: ",") else {
        throw ImportError("expected a comma or \"\(isObject ? "}" : "]")\"", at: input)
      }
      input.take(1)
    }
    isAtStart = false
    try checkLine(&input)
    if isObject { name = try input.memberName() }
    guard try input.nextByte() == UInt8(ascii: "{") else {
      throw RecoverableError(
        "a document must be an object in braces; remove anything else", at: input, next: .element)
    }
    return true
  }

  /// Throws if the line ends here that the container has to end on.
  private func checkLine(_ input: inout InputBuffer) throws {
    guard let line, try input.nextByte() == nil || input.line != line else { return }
    throw RecoverableError(
      error: ImportError(file: input.name, line: line, column: 0, message: WrapperForm.cutLine), next: .value)
  }

  private func leave(_ input: inout InputBuffer) throws {
    input.take(1)
    for _ in 0..<depth {
      // Its last document is whole, and the next value begins on the next line.
      if let line, try input.nextByte() == nil || input.line != line { break }
      while try input.nextByte() == UInt8(ascii: ",") {
        input.take(1)
        guard try input.nextByte() == UInt8(ascii: "\"") else { break }
        let (line, column) = (input.line, input.column)
        let member = try input.memberName()
        if let doubt = wrapper?.doubt(aboutMember: member) {
          throw ImportError(file: input.name, line: line, column: column, message: doubt.message)
        }
        try input.skipValue()
      }
      guard try input.nextByte() == UInt8(ascii: "}") else {
        throw ImportError("expected a comma or \"}\"", at: input)
      }
      input.take(1)
    }
  }
}
