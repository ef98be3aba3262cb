public import ArgumentParser
public import CDTDatastore
import CDTPlatform
import CDTQuery

/// What an import reads, and how.
package struct ImportOptions: ParsableArguments {
  @Argument(help: "Files to read; - is standard input, the default.") package var files: [String] = []
  @Option(help: "json, or csv with a header line.") package var format = DocumentImporter.Format.json
  @Option(
    name: .customLong("at"), help: "Import the array at this path of a single object, as in data.people.")
  package var path: String?
  @Option(name: .customLong("id"), help: "The field to use as the id of documents without _id.")
  package var idField: String?
  @Option(help: "What to do if a document exists: fail, skip or replace. (default: fail)")
  package var onConflict: DocumentImporter.ConflictRule?
  @Option(help: "The maximum number of documents (revisions with --from-touchdb) to write at once.")
  package var batch = 1_000
  @Flag(help: "Report invalid documents and continue.") package var keepGoing = false

  package init() {}

  /// Whether the files, and what is in them, are left to the command.
  package var isEmpty: Bool {
    files.isEmpty && path == nil && idField == nil && onConflict == nil && format == .json
  }

  package func validate() throws {
    guard batch > 0 else { throw ValidationError("--batch must be a whole number, 1 or more") }
    guard format == .json || path == nil else {
      throw ValidationError("--at is a path in JSON; leave it out with --format csv")
    }
  }

  /// The files to read; `-` is standard input.
  package var inputs: [String] { files.isEmpty ? ["-"] : files }

  /// The progress of an import of the files.
  package var progress: ImportProgress { ImportProgress(of: inputs) }

  /// A reader of the files, which reports invalid documents.
  package func reader(_ progress: ImportProgress) throws -> ImportReader {
    var reader = ImportReader(inputs)
    reader.format = format
    reader.arrayPath = try path.map(Self.names) ?? []
    reader.idField = idField
    reader.batchSize = batch
    reader.continuesOnError = keepGoing
    reader.onInvalidDocument = { progress.report($0) }
    for file in inputs { try Self.checkReadable(file) }
    return reader
  }

  private static func names(onPath path: String) throws -> [String] {
    do throws(FieldPath.Fault) {
      return try FieldPath(path, allowsDollar: true).segments.map { String(decoding: $0.name, as: UTF8.self) }
    } catch {
      throw ToolError(
        .usage,
        "\"\(path)\" is not a path for --at; give one such as data.people, with \\. for a dot in a name")
    }
  }

  /// Detects a mistyped name before the store is created and other files are read.
  private static func checkReadable(_ file: String) throws(ToolError) {
    do {
      if file != "-" { try Files.checkReadable(file) }
    } catch {
      throw .unreadable(file, error)
    }
  }
}

extension DocumentImporter.Format: ExpressibleByArgument {}
extension DocumentImporter.ConflictRule: ExpressibleByArgument {}
