/// A pattern that every engine decides alike, in ICU's spelling.
///
/// The subset of PCRE2 is in `docs/query.md`. What is outside is refused; the meaning is always that of PCRE2.
package struct PortablePattern: Hashable, Sendable {
  /// The pattern for ICU, which needs no options.
  package let spelling: String

  /// - Parameter options: Letters of `imsx`.
  package init(_ pattern: String, options: String = "") throws(RegularExpression.Refusal) {
    var parser = PatternParser(pattern, options: options)
    do throws(PatternParser.Failure) {
      spelling = try parser.parse()
    } catch {
      let offset = pattern.unicodeScalars.prefix(error.position).reduce(0) { $0 + UTF8.width($1) }
      throw RegularExpression.Refusal(
        message: "it has \(error.fault.noun)", offset: offset, remedy: error.fault.remedy)
    }
  }
}
