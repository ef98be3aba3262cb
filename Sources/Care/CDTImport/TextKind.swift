import CDTPlatform

/// A kind of text that import can't read, by its beginning. Text of these kinds does not begin with a brace or bracket.
enum TextKind {
  case html, xml, sequence, comment, assignment, call, yaml

  /// - Parameter bytes: The beginning of the text, without white space before it.
  /// - Returns: `nil` for any other text.
  init?(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes.prefix(1_000), as: UTF8.self)
    let start = text.prefix { !"{[\n\r".contains($0) }.drop { $0 == " " }
    let word = start.prefix { "_$.".contains($0) || $0.isLetter || $0.isNumber }
    let rest = start.dropFirst(word.count)
    if text.hasPrefix("<") {
      let lower = text.lowercased()
      self = lower.contains("<!doctype html") || lower.contains("<html") ? .html : .xml
    } else if text.hasPrefix("\u{1E}") {
      self = .sequence
    } else if text.hasPrefix("//") || text.hasPrefix("/*") {
      // A comment protects some calls.
      self = start.hasPrefix("/**/") && start.hasSuffix("(") ? .call : .comment
    } else if !word.isEmpty, rest == "(" {
      self = .call
    } else if !word.isEmpty, start.last(where: { $0 != " " }) == "=" {
      self = .assignment
    } else if start == "---" || start.hasPrefix("- ")
      || !word.isEmpty && (rest == ":" || rest.hasPrefix(": "))
    {
      self = .yaml
    } else {
      return nil
    }
  }

  var message: String {
    switch self {
    case .html: "the text is a page in HTML, perhaps one that asks for a login; download the data instead"
    case .xml: "the text is XML; convert it to JSON or CSV"
    case .sequence:
      "the text is a sequence of JSON texts with a record separator before each (RFC 7464); remove these, as with tr -d '\\036'"
    case .comment: "the text begins with a comment, which JSON does not have; remove the comments"
    case .assignment:
      "the text is JavaScript, as in an archive of Twitter; remove what stands before the first { or ["
    case .call:
      "the text is JSONP, which calls a function; remove its name and the parentheses around the JSON"
    case .yaml: "the text looks like YAML; convert it to JSON, as with yq -o json"
    }
  }
}
