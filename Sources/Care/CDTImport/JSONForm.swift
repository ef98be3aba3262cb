/// A form of JSON text, which decides what each of its objects is.
protocol JSONForm {
  /// Decides what the object that begins here is, and takes what is not a document.
  ///
  /// - Returns: `nil` if the object does not have the form.
  /// - Throws: ``ImportError``, ``RecoverableError`` or `DatastoreError`.
  mutating func take(_ input: inout InputBuffer) throws -> JSONRole?

  /// The array that begins here; `nil` if no object of the text had the form yet.
  func array(in input: InputBuffer) -> JSONContainer?

  /// The notice about a text that was recognized; `nil` if no object had the form yet.
  func notice(_ file: String) -> ImportNotice?
}

extension DocumentImporter.Format {
  /// The forms that a text may have, in the order in which they are tried. The objects of a text without them are documents.
  var forms: [any JSONForm] {
    switch self {
    case .automatic: [ActionForm(), WrapperForm(isForced: false)]
    case .couchDB: [WrapperForm(isForced: true)]
    default: []
    }
  }
}

/// The role of an object of the text.
enum JSONRole {
  /// A document, with the id that is given beside it, or an object that has the documents at a path.
  case document(id: String? = nil, path: ArraySlice<String> = [])
  /// An object around a container, which was entered, or one without documents, which was skipped.
  case other(JSONContainer? = nil)
}
