import ArgumentParser
import CDTQuery

/// Keeps bookmarks. The URL is the document's id, so a page is kept once.
@main
struct Bookmarks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bookmarks",
    abstract: "Keep bookmarks.",
    subcommands: [Add.self, List.self, Visit.self, Remove.self])
}

/// The options of every command: the store.
struct StoreOptions: ParsableArguments {
  @Option(help: "The directory in which the bookmarks are kept.")
  var directory = ".bookmarks"

  /// Runs a command's work. The store's errors end the command with their messages, which are for people.
  func withStore(_ body: (Datastore) async throws -> Void) async throws {
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "bookmarks")
    try await store.ensureIndexed(["tags", "title"])
    try await body(store)
  }
}

/// A page is a bookmark already.
struct AlreadyKept: Error, CustomStringConvertible {
  let url: String

  var description: String { "\(url) is a bookmark already" }
}

/// The body of a bookmark.
struct Bookmark: Codable {
  var title: String
  var tags: [String]
  var visits = 0
}

extension Bookmarks {
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add a bookmark.")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The page's address.") var url: String
    @Option(help: "The page's title.") var title: String
    @Option(help: "A tag; may be repeated.") var tag: [String] = []

    func run() async throws {
      try await options.withStore { store in
        let draft = try DocumentDraft(id: url, encoding: Bookmark(title: title, tags: tag))
        do {
          try await store.createDocument(from: draft)
        } catch let error as DatastoreError where error.code == .conflict {
          throw AlreadyKept(url: url)
        }
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List bookmarks by title.")

    @OptionGroup var options: StoreOptions
    @Option(help: "Only those with a tag.") var tag: String?
    @Option(help: "Only those whose title matches a pattern.") var matching: String?

    func run() async throws {
      var selector: JSONObject = [:]
      selector["tags"] = tag
      if let matching { selector["title"] = ["$regex": .string(matching), "$options": "i"] }
      try await options.withStore { store in
        for document in try await store.find(selector, sort: ["title"]) {
          let bookmark = try document.decode(Bookmark.self)
          print("\(bookmark.title)\t\(document.id)\t\(bookmark.visits)")
        }
      }
    }
  }

  struct Visit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Count a visit, and print the address.")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The page's address.") var url: String

    func run() async throws {
      try await options.withStore { store in
        let visited = try await store.updateDocument(withID: url) { document in
          document.body["visits"] = (document.body["visits"]?.intValue ?? 0) + 1
        }
        print(visited.id)
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Remove a bookmark.")

    @OptionGroup var options: StoreOptions
    @Argument(help: "The page's address.") var url: String

    func run() async throws {
      try await options.withStore { store in
        try await store.deleteDocument(withID: url)
      }
    }
  }
}
