import CDTDatastore

/// A revision id on the command line.
enum RevisionArgument {
  static func read(_ text: String) throws -> RevisionID {
    guard let revision = RevisionID(text) else {
      throw ToolError(
        .usage, "\"\(text)\" is not a revision id; give one such as 2-be2c05cd85b8468ce92b04e001b0e923")
    }
    return revision
  }
}
