import ArgumentParser

/// A command that queries a store, a database at a server, or a file. It declares the groups of options itself: ArgumentParser takes
/// twice as long if they are in a group.
protocol QueryingCommand: ParsableCommand {
  var file: QueriedFileOptions { get }
  var key: KeyOptions { get }
  var server: ServerOptions { get }
}

extension QueryingCommand {
  /// Opens the store or the database.
  ///
  /// - Parameter input: The file that the command reads; standard input can't also have the password.
  func openDatabase(_ database: DatabaseArgument, reading input: String? = nil) throws -> any Database {
    try refuse([
      "--input-format and the other options of how a file is read are for files; leave them out":
        !file.isEmpty
    ])
    return try database.open(server, reading: input)
  }

  /// Opens the database, or the file.
  func open(_ database: DatabaseArgument, reading input: String? = nil) throws -> any QuerySource {
    guard case .file(let path) = database else { return try openDatabase(database, reading: input) }
    guard server.isEmpty else { throw ServerOptions.storeNeedsNone }
    try UserOptions.checkIsNone()
    guard path != "-" || input != "-" else {
      throw ToolError(
        .usage, "standard input can't be both the documents and the selector; give one as an argument")
    }
    return FileDatabase(path: path, options: file)
  }
}
