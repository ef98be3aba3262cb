import CDTDatastore
import CDTQuery
import Synchronization

/// `import --from-touchdb`: documents first, and then the indexes.
struct TouchDBImport {
  let file: String
  let batch: Int
  let keepsGoing: Bool

  func run(into store: StoreArgument) throws {
    // A store is not made for a file that is none.
    try TouchDBImporter.check(file)
    let datastore = try store.create()
    var importer = TouchDBImporter(into: datastore)
    importer.batch = batch
    importer.keepsGoing = keepsGoing
    importer.onProblem = { Message.write("cdtquery: \($0)") }
    let bar = Mutex<ProgressBar?>(nil)
    importer.onProgress = { report in
      let shown = bar.withLock { bar in
        let shown = bar ?? ProgressBar(total: Int64(report.total), noun: "documents")
        bar = shown
        return shown
      }
      shown.show(count: report.documents, done: Int64(report.documents))
    }
    defer { bar.withLock { $0?.finish() } }
    let report = try importer.run(file)
    bar.withLock { $0?.finish() }
    let indexes = try datastore.importTouchDBIndexes(file)
    Message.write(Self.summary(report, indexes: indexes.indexes.count))
    for index in indexes.leftOut {
      Message.write(
        "index \(Shell.quoted(index.name)) is left out: \(index.reason)\n  \(Self.command(index, store))")
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

  /// What makes an index that was left out.
  private static func command(_ index: TouchDBIndexReport.LeftOut, _ store: StoreArgument) -> String {
    var words = ["cdtquery", "index", "create", "\(store.directory)/\(store.name)", "--name", index.name]
    words += ["--type", index.type]
    if let tokenizer = index.tokenizer { words += ["--tokenize", tokenizer] }
    return (words + ["--"] + index.fields).map(Shell.quoted).joined(separator: " ")
  }
}

/// Words as a shell reads them.
enum Shell {
  static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "_-./:,=@%+".utf8.contains(byte)
      }
    }
    return isPlain && !word.isEmpty
      ? word
      : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
