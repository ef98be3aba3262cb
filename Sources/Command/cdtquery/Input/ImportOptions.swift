public import ArgumentParser
import CDTDatastore
public import CDTImport
import CDTJSON
import CDTPlatform
import CDTQuery

/// The files that an import reads, and the options for reading them.
struct ImportOptions: ParsableArguments {
  @Argument(help: "Files to read; - is standard input, the default.") var files: [String] = []
  @Option(help: "The format of the files.")
  var format = DocumentImporter.Format.automatic
  @OptionGroup var file: FileOptions
  @Option(help: "The action if a document exists: fail, skip or replace. (default: fail)")
  var onConflict: DocumentImporter.ConflictRule?
  @Flag(help: "Replace documents also if they have changed since the _rev in the file.") var force =
    false
  @Option(help: "The maximum number of documents (revisions with --from-touchdb) to write at once.")
  var batch = 1_000
  @Flag(help: "Report invalid documents and continue.") var keepGoing = false
  @Flag(help: "Print only errors, without progress and what was recognized.") var quiet = false

  init() {}

  /// Whether the files, and what is in them, are left to the command.
  var isEmpty: Bool {
    files.isEmpty && file.isEmpty && onConflict == nil && format == .automatic && !force
  }

  func validate() throws {
    try refuse(["--batch must be a whole number, 1 or more": batch < 1])
    try file.check(format)
    try refuse([
      "--force is for --on-conflict replace; add that, or leave out --force": force && onConflict != .replace
    ])
  }

  /// The files to read; `-` is standard input.
  var inputs: [String] { files.isEmpty ? ["-"] : files }

  /// The progress of an import of the files.
  var progress: ImportProgress { ImportProgress(of: inputs, isQuiet: quiet) }

  /// A reader of the files, which reports invalid documents.
  func reader(_ progress: ImportProgress) throws -> ImportReader {
    var reader = ImportReader(inputs)
    try file.apply(to: &reader, format: format)
    reader.onConflict = onConflict ?? .fail
    reader.ignoresRevisions = force
    reader.batchSize = batch
    reader.continuesOnError = keepGoing
    reader.onInvalidDocument = { progress.report("\($0)") }
    reader.onProgress = { progress.show($0) }
    if !quiet { reader.onNotice = { progress.report($0) } }
    for file in inputs { try FileOptions.checkReadable(file) }
    return reader
  }
}

extension DocumentImporter.Format: ExpressibleByArgument {}
extension DocumentImporter.ReservedNames: ExpressibleByArgument {}
extension DocumentImporter.ConflictRule: ExpressibleByArgument {}
