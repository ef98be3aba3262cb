import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTPlatform

struct AttachmentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attachment",
    abstract: "List, read, add and remove attachments of documents.",
    discussion: """
      EXAMPLE
        $ echo 'Likes cats.' > notes.txt
        $ cdtquery attachment put people/contacts mike notes.txt \\
            --type text/plain > /dev/null
        $ cdtquery attachment list people/contacts mike
        {"name":"notes.txt","type":"text/plain","length":12,"digest":"…","revpos":2}
        $ cdtquery attachment get people/contacts mike notes.txt
        Likes cats.
      """,
    subcommands: [List.self, Get.self, Put.self, Delete.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print a document's attachments by name, one JSON object per line.",
      discussion: """
        The digest is the SHA-1 of the content; revpos is the generation that added the attachment.

        EXAMPLE
          $ printf 'meow' | cdtquery attachment put people/contacts mike cat.txt - \\
              > /dev/null
          $ cdtquery attachment list people/contacts mike
          {"name":"cat.txt","type":"application/octet-stream","length":4,…}
        """)

    @OptionGroup var document: DocumentOptions

    func run() throws {
      for attachment in try document.read(in: try document.store.open()).attachments {
        try Output.standard.line(attachment.json.text)
      }
    }
  }

  struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "get",
      abstract: "Write an attachment's content to standard output, or to a file.",
      discussion: """
        The content is verified against its digest before any of it is written.

        EXAMPLE
          $ printf 'meow' | cdtquery attachment put people/contacts mike cat.txt - \\
              > /dev/null
          $ cdtquery attachment get people/contacts mike cat.txt copy.txt
          $ cat copy.txt
          meow
        """)

    @OptionGroup var document: DocumentOptions
    @Argument(help: "The attachment's name.") var name: String
    @Argument(help: "The file to write; - is standard output.") var file = "-"

    func run() throws {
      // Compaction keeps the attachments of a state that is being read.
      try document.store.open().read { snapshot in
        let attachment = try document.attachment(name, in: snapshot)
        let output = try Output.opening(file)
        try attachment.forEachChunk { try output.write($0) }
        try output.finish()
      }
    }
  }

  struct Put: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "put",
      abstract:
        "Attach a file to a document, replacing an attachment of the same name, and print the document.",
      usage: "cdtquery attachment put <store> <id> [<name>] <file> [--type <type>] [--rev <rev>]",
      discussion: """
        NAME defaults to the file's name. With --rev the document changes only if that is its current revision.

        EXAMPLE
          $ echo '<svg/>' > face.svg
          $ cdtquery attachment put people/contacts mike face.svg --type image/svg+xml
          {"_id":"mike","_rev":"2-…","age":36}
          $ cdtquery attachment put people/contacts mike face face.svg
          {"_id":"mike","_rev":"3-…","age":36}
        """)

    @OptionGroup var document: DocumentOptions
    @Argument(help: "The attachment's name (default: the file's name), then the file; - is standard input.")
    var nameAndFile: [String]
    @Option(help: "The media type.") var type = "application/octet-stream"

    func validate() throws {
      try refuse([
        "give a file, or a name and a file": !(1...2).contains(nameAndFile.count),
        "standard input has no name; give the attachment's name before -": nameAndFile == ["-"],
      ])
    }

    func run() throws {
      let file = nameAndFile[nameAndFile.count - 1]
      let name =
        nameAndFile.count == 2
        ? nameAndFile[0] : file.splitBytes(at: "/").last { !$0.isEmpty } ?? file
      if file != "-" {
        do { try Files.checkReadable(file) } catch { throw ToolError.unreadable(file, error) }
      }
      try document.change { attachments, datastore in
        attachments[name] =
          file == "-"
          ? try datastore.attachment(
            reading: .standardInput, source: "standard input", name: name, contentType: type)
          : DocumentAttachment(file: file, name: name, contentType: type)
      }
    }
  }

  struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete",
      abstract: "Remove an attachment from a document, and print the document.",
      discussion: """
        EXAMPLE
          $ printf 'meow' | cdtquery attachment put people/contacts mike cat.txt - \\
              > /dev/null
          $ cdtquery attachment delete people/contacts mike cat.txt
          {"_id":"mike","_rev":"3-…","age":36}
        """)

    @OptionGroup var document: DocumentOptions
    @Argument(help: "The attachment's name.") var name: String

    func run() throws {
      let datastore = try document.store.open()
      _ = try datastore.read { try document.attachment(name, in: $0) }
      try document.change { attachments, _ in attachments[name] = nil }
    }
  }
}

/// The document of an attachment command.
struct DocumentOptions: ParsableArguments {
  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: "The document's id.") var id: String
  @Option(name: .customLong("rev"), help: "The revision. (default: the current one)") var revision: String?

  func read(in datastore: Datastore) throws -> DocumentRevision {
    try datastore.read { try read(in: $0) }
  }

  private func read(in snapshot: ReadTransaction) throws -> DocumentRevision {
    guard let revision else { return try snapshot.document(withID: id) }
    return try snapshot.document(withID: id, revisionID: try RevisionArgument.read(revision))
  }

  func attachment(_ name: String, in snapshot: ReadTransaction) throws -> DocumentAttachment {
    let attachments = try read(in: snapshot).attachments
    if let attachment = attachments[name] { return attachment }
    let names = attachments.names.map { JSONValue.string($0).text }.joined(separator: ", ")
    throw ToolError(
      .missing,
      "document \(JSONValue.string(id).text) has no attachment \(JSONValue.string(name).text); it has "
        + (names.isEmpty ? "none" : names))
  }

  /// Changes the document's attachments, saves it and prints it.
  func change(_ body: (inout Attachments, Datastore) throws -> Void) throws {
    let datastore = try store.open()
    var document = try read(in: datastore)
    let before = document.attachments
    try body(&document.attachments, datastore)
    if document.attachments != before { document = try datastore.updateDocument(from: document) }
    try Output.standard.line(document.json.text)
  }
}

extension DocumentAttachment {
  /// The attachment as `cdtquery attachment list` prints it.
  fileprivate var json: JSONObject {
    var json: JSONObject = ["name": .string(name), "type": .string(contentType)]
    if let length { json["length"] = .int(length) }
    if let digest { json["digest"] = .string(digest) }
    if let generation { json["revpos"] = .int(Int64(generation)) }
    return json
  }
}
