/// A type with secrets, of which `dump` shows no more than the description.
package protocol SecretHolder: CustomReflectable {}

extension SecretHolder {
  /// A mirror without children, also of the members that a subclass inherits.
  public var customMirror: Mirror { Mirror(self, children: [:], ancestorRepresentation: .suppressed) }
}
