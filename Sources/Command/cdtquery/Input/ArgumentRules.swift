import ArgumentParser

extension ParsableArguments {
  /// Throws the message of the first rule that the arguments break.
  ///
  /// - Parameter rules: For each message, whether its arguments are given together, or one without another that it needs.
  func refuse(_ rules: KeyValuePairs<String, Bool>) throws(ValidationError) {
    for (message, isBroken) in rules where isBroken { throw ValidationError(message) }
  }
}
