import Foundation

/// A pattern in ICU's spelling, compiled by Foundation. In a module of its own, since on Linux a program that imports Foundation starts later
/// and needs more memory.
package struct FoundationPattern: Sendable {
  private let expression: NSRegularExpression

  /// `nil` if the pattern does not compile.
  package init?(_ spelling: String) {
    guard let expression = try? NSRegularExpression(pattern: spelling) else { return nil }
    self.expression = expression
  }

  /// Whether the pattern matches anywhere in the subject, which is UTF-8; `nil` if the match was stopped, or needs too much memory.
  ///
  /// - Parameter shouldContinue: Called at each position and after each 10,000 steps.
  package func matches(_ subject: UnsafeRawBufferPointer, while shouldContinue: () -> Bool) -> Bool? {
    let text = String(decoding: subject, as: UTF8.self)
    var outcome: Bool? = false
    withoutActuallyEscaping(shouldContinue) { shouldContinue in
      // Without reports of completion, Foundation does not tell of errors.
      expression.enumerateMatches(
        in: text, options: [.reportProgress, .reportCompletion],
        range: NSRange(location: 0, length: text.utf16.count)
      ) { match, flags, stop in
        if match != nil {
          outcome = true
          stop.pointee = true
        } else if flags.contains(.internalError) {
          outcome = nil
        } else if flags.contains(.progress), !shouldContinue() {
          outcome = nil
          stop.pointee = true
        }
      }
    }
    return outcome
  }
}
