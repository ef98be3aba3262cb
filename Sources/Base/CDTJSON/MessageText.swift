extension String {
  /// The text of a message, at most 1,000 characters of it: it may quote megabytes of input. The middle is left out, as messages end in
  /// the remedy.
  package var boundedMessage: String {
    let maximum = 1_000
    // A scalar has at least one byte, and the bytes are counted already.
    guard utf8.count > maximum, unicodeScalars.count > maximum else { return self }
    let part = maximum / 2 - 1
    return String(unicodeScalars.prefix(part)) + "…" + String(unicodeScalars.suffix(part))
  }
}
