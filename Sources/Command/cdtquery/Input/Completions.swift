import ArgumentParser
import CDTDatastore
import CDTImport
import CDTPlatform
import CDTQuery

/// The completions of a shell besides commands and options: stores, and the fields of their documents. Stores and files that
/// can't be read have no completions.
enum Completions {
  static let stores = CompletionKind.custom { _, _, prefix in stores(prefix).filter(isSafe) }
  static let databases = CompletionKind.custom { _, _, prefix in
    (stores(prefix) + files(prefix)).filter(isSafe)
  }
  /// The fields of a list that is separated by commas.
  static let fields = CompletionKind.custom { words, _, prefix in fields(words, prefix).filter(isSafe) }

  /// Whether a shell takes a word as it is. The generated scripts of bash expand the words that they are given, so that a name with a
  /// `$` or a backquote would run a command; such names are not offered.
  private static func isSafe(_ word: String) -> Bool {
    word.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 >= 0x80 || "._-/,:@+=%".utf8.contains($0) }
      && !word.unicodeScalars.contains(where: Terminal.controls)
  }

  private static let maximumDocuments = 1_000
  private static let maximumNames = 1_000

  // MARK: Stores and files

  /// The stores in a directory, and in the directories in it.
  private static func stores(_ prefix: String) -> [String] {
    entries(prefix).flatMap { path in
      isStore(path) ? [path] : names(in: path).map { "\(path)/\($0)" }.filter(isStore)
    }
  }

  private static func files(_ prefix: String) -> [String] {
    entries(prefix).filter(DatabaseArgument.hasNameOfFile)
  }

  /// The paths that begin with a prefix.
  private static func entries(_ prefix: String) -> [String] {
    var parts = prefix.splitBytes(at: "/")
    let start = parts.popLast() ?? ""
    let directory = parts.map { $0 + "/" }.joined()
    return names(in: directory.isEmpty ? "." : directory).filter { $0.hasBytePrefix(start) }.map {
      directory + $0
    }
  }

  private static func names(in directory: String) -> [String] {
    Array(
      ((try? Files.names(in: directory)) ?? []).filter { !$0.hasBytePrefix(".") }.sorted().prefix(
        maximumNames))
  }

  private static func isStore(_ path: String) -> Bool {
    (try? Files.kind(of: "\(path)/\(DatabaseFile.name)")) == .file
  }

  // MARK: Fields

  private static func fields(_ words: [String], _ prefix: String) -> [String] {
    guard let source = words.lazy.compactMap(DatabaseArgument.init(argument:)).first(where: hasDocuments),
      var query = try? Query([:])
    else { return [] }
    query.limit = maximumDocuments
    var scan = FieldScan()
    switch source {
    case .store(let store): try? StoreDatabase(store: store).results(for: query).forEachJSON { scan.add($0) }
    case .file(let path): try? FileQuery(query, ImportReader([path])).forEachJSON { scan.add($0) }
    case .url: break
    }
    let (before, _) = split(prefix)
    var known: Set<String> = []
    return scan.summary(indexed: nil).fields.map(\.queryPath).filter { known.insert($0).inserted }.map {
      before + $0
    }
  }

  /// The names in front of the one that is completed, with their commas.
  private static func split(_ prefix: String) -> (before: String, word: String) {
    var parts = prefix.splitBytes(at: ",")
    let word = parts.popLast() ?? ""
    return (parts.map { $0 + "," }.joined(), word)
  }

  /// Whether a word of the command names a store or a file; most words could be the name of a store.
  private static func hasDocuments(_ database: DatabaseArgument) -> Bool {
    switch database {
    case .store(let store): isStore(store.path)
    case .file(let path): (try? Files.kind(of: path)) == .file
    case .url: false
    }
  }
}
