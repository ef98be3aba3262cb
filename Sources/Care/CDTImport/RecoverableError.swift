/// An error in JSON text after which the rest of the text can be read.
struct RecoverableError: Error {
  /// The place at which reading continues.
  enum Place {
    /// The next line.
    case line
    /// The next line that begins with an object or an array.
    case object
    /// Behind the element of the container that begins here.
    case element
    /// Here, with the next value of the text.
    case value
    /// Here, with the next document in the object.
    case document
  }

  let error: ImportError
  let next: Place
}

extension RecoverableError {
  init(_ message: String, at input: InputBuffer, next: Place) {
    self.init(error: ImportError(message, at: input), next: next)
  }
}
