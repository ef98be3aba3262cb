import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery

/// `import --from-touchdb`: imports documents, then indexes.
struct TouchDBImport {
  let file: String
  let batch: Int
  let continuesOnError: Bool

  func run(into store: StoreArgument) throws {
    // Check the file first, so that no store is created for an invalid one.
    let total = try TouchDBImporter.check(file)
    try store.withCreated { try run(into: $0, total: total) }
  }

  private func run(into datastore: Datastore, total: Int) throws {
    let progress = ProgressBar(total: Int64(total), noun: "documents")
    defer { progress.clear() }
    var importer = TouchDBImporter(into: datastore)
    importer.batchSize = batch
    importer.continuesOnError = continuesOnError
    importer.onInvalidDocument = { problem in
      progress.clear()
      Message.write("cdtquery: \(problem)")
    }
    importer.onProgress = { progress.show(count: $0.documents, done: Int64($0.documents)) }
    let report = try importer.run(file)
    progress.clear()
    let indexes = try datastore.importTouchDBIndexes(file)
    Message.write(Self.summary(report, indexes: indexes.indexes.count))
    for index in indexes.skippedIndexes {
      let name = JSONValue.string(index.name).text
      let fields = JSONValue.array(index.fields.map { .string($0) }).text
      Message.write("the \(index.type) index \(name) of \(fields) is left out: \(index.reason)")
    }
    if report.failed > 0 { throw ExitStatus.data }
  }

  static func summary(_ report: TouchDBReport, indexes: Int) -> String {
    func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
      "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }
    var parts = [
      counted(report.documents, "document"), counted(report.revisions, "new revision"),
      counted(report.attachments, "new attachment"), counted(report.localDocuments, "new local document"),
      counted(indexes, "index", "indexes"),
    ]
    if report.failed > 0 { parts.append("\(report.failed) failed") }
    return parts.joined(separator: ", ")
  }
}
