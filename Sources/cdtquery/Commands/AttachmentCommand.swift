import ArgumentParser
import CDTDatastore
import CDTPlatform
import JSON

struct AttachmentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attachment",
    abstract: "List, read, add and remove the files that are attached to documents.",
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
      abstract: "Print a document's attachments, a JSON object a line, by name.",
      discussion: """
        The digest is the content's SHA-1, and revpos the generation in which the attachment came to the document.

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
        The content is checked first, so that no wrong byte is ever given.

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
      let attachment = try document.attachment(name, in: try document.store.open())
      // An ordinary file takes its place as a whole; a device or a link is written to.
      let kind = Files.kind(of: file, followsLinks: false)
      if file != "-", kind == nil || kind == .file { return try attachment.write(toFile: file) }
      let output = try Output.writing(to: file)
      try attachment.forEachChunk { try output.write($0) }
      try output.flush()
    }
  }

  struct Put: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "put",
      abstract: "Attach a file to a document, in place of one of the same name, and print the document.",
      usage: "cdtquery attachment put <store> <id> [<name>] <file> [--type <type>] [--rev <rev>]",
      discussion: """
        Without a NAME it is the file's own. With --rev the document is changed only if that is its current revision.

        EXAMPLE
          $ echo '<svg/>' > face.svg
          $ cdtquery attachment put people/contacts mike face.svg --type image/svg+xml
          {"_id":"mike","_rev":"2-…","age":36}
          $ cdtquery attachment put people/contacts mike face face.svg
          {"_id":"mike","_rev":"3-…","age":36}
        """)

    @OptionGroup var document: DocumentOptions
    @Argument(help: "The attachment's name, if it is not the file's, and the file; - is standard input.")
    var nameAndFile: [String]
    @Option(help: "The media type.") var type = "application/octet-stream"

    func validate() throws {
      guard (1...2).contains(nameAndFile.count) else {
        throw ValidationError("give a file, or a name and a file")
      }
      guard nameAndFile != ["-"] else {
        throw ValidationError("standard input has no name; give the attachment's before -")
      }
    }

    func run() throws {
      let file = nameAndFile[nameAndFile.count - 1]
      let name =
        nameAndFile.count == 2
        ? nameAndFile[0] : file.split(separator: "/").last.map(String.init) ?? file
      let attachment = CDTDatastore.Attachment(
        file: file == "-" ? "/dev/stdin" : file, name: name, type: type)
      try document.change { $0[name] = attachment }
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
      _ = try document.attachment(name, in: datastore)
      try document.change { $0[name] = nil }
    }
  }
}

/// The document whose attachments are meant.
struct DocumentOptions: ParsableArguments {
  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The document's id.") var id: String
  @Option(name: .customLong("rev"), help: "The revision, when it is not the current one.") var revision:
    String?

  func read(in datastore: Datastore) throws -> DocumentRevision {
    guard let revision else { return try datastore.document(withID: id) }
    return try datastore.document(withID: id, revision: try RevisionArgument.read(revision))
  }

  func attachment(_ name: String, in datastore: Datastore) throws -> CDTDatastore.Attachment {
    let attachments = try read(in: datastore).attachments
    if let attachment = attachments[name] { return attachment }
    let names = attachments.names.map { JSONValue.string($0).text }.joined(separator: ", ")
    throw ToolError(
      .missing,
      "document \(JSONValue.string(id).text) has no attachment \(JSONValue.string(name).text); it has "
        + (names.isEmpty ? "none" : names))
  }

  /// Saves the document with its attachments changed, and prints it.
  func change(_ body: (inout Attachments) -> Void) throws {
    let datastore = try store.open()
    var document = try read(in: datastore)
    let before = document.attachments
    body(&document.attachments)
    if document.attachments != before { document = try datastore.updateDocument(from: document) }
    try Output.standard.line(document.json.text)
  }
}

extension CDTDatastore.Attachment {
  /// The attachment as `cdtquery attachment list` prints it.
  fileprivate var json: JSONObject {
    var json: JSONObject = ["name": .string(name), "type": .string(type)]
    if let length { json["length"] = .int(length) }
    if let digest { json["digest"] = .string(digest) }
    if let generation { json["revpos"] = .int(Int64(generation)) }
    return json
  }
}
