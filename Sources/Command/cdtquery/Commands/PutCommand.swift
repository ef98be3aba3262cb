import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct PutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Create a document, or replace a revision with --rev, and print it.",
    usage: "cdtquery put <store> [<id>] <body> [--rev <rev>]",
    discussion: """
      The body is JSON, @FILE, or - for standard input. If ID is missing, the body's _id is used, or an id is generated. A \
      _rev in the body works like --rev.

      EXAMPLE
        $ cdtquery put people/contacts eve '{"age": 7}'
        {"_id":"eve","_rev":"1-51fa796336663b307145483b64ea15d4","age":7}
        $ echo '{"age": 8}' > new.json
        $ cdtquery put people/contacts eve @new.json \\
            --rev 1-51fa796336663b307145483b64ea15d4
        {"_id":"eve","_rev":"2-97a9d925306b467594084ba2b79705bd","age":8}
      """)

  @Argument(help: "The store, DIRECTORY/NAME; created if it does not exist.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: "The id, if any, then the body.") var idAndBody: [String]
  @Option(name: .customLong("rev"), help: "The revision that the body replaces.") var revision: String?

  func validate() throws {
    guard (1...2).contains(idAndBody.count) else {
      throw ValidationError("give an id and a body, or a body alone")
    }
  }

  func run() throws {
    let document = try DocumentArgument(try TextArgument.read(idAndBody[idAndBody.count - 1]))
    if idAndBody.count == 2 { try document.check(id: idAndBody[0]) }
    let id = idAndBody.count == 2 ? idAndBody[0] : document.id
    let saved = try save(document.body, id: id, parent: revision ?? document.revision)
    try Output.standard.json(saved.json)
  }

  private func save(_ body: JSONObject, id: String?, parent: String?) throws -> DocumentRevision {
    if let parent {
      guard let id else {
        throw ToolError(.usage, "a revision needs the id of its document; give it before the body")
      }
      let revision = try RevisionArgument.read(parent)
      return try store.open().write { try $0.updateDocument(withID: id, revisionID: revision, body: body) }
    }
    do {
      return try store.withCreated { try $0.createDocument(from: DocumentDraft(id: id, body: body)) }
    } catch let error as DatastoreError where error.code == .conflict {
      throw ToolError(
        .data,
        "document \(JSONValue.string(id ?? "").text) already exists; to replace it, give its current revision with --rev"
      )
    }
  }
}
