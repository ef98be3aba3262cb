import ArgumentParser
import CDTDatastore
import CDTQuery
import JSON

struct PutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Create a document, or replace one with --rev, and print it.",
    discussion: """
      The body is JSON, @FILE, or - for standard input. The id is given, or the body's _id, or it is made; a _rev in
      the body is as good as --rev.

      EXAMPLE
        $ cdtquery put people/contacts ann '{"age": 7}'
      """)

  @Argument(help: "The store, DIRECTORY/NAME; it is created when it is missing.") var store: StoreArgument
  @Argument(help: "The id, if there is one, and the body.") var idAndBody: [String]
  @Option(name: .customLong("rev"), help: "The revision that the body replaces.") var revision: String?

  func validate() throws {
    guard (1...2).contains(idAndBody.count) else {
      throw ValidationError("give an id and a body, or a body alone")
    }
  }

  func run() throws {
    var body = try JSONObject(parsing: try TextArgument.read(idAndBody[idAndBody.count - 1]))
    var id = try Self.take("_id", from: &body)
    if idAndBody.count == 2 {
      guard id == nil || id.map({ Array($0.utf8) }) == Array(idAndBody[0].utf8) else {
        throw ToolError(.usage, "the id given and the body's _id differ; give one of them")
      }
      id = idAndBody[0]
    }
    let parent = try Self.take("_rev", from: &body)
    let datastore = try store.create()
    let saved: DocumentRevision
    if let parent = revision ?? parent {
      guard let id else { throw ToolError(.usage, "a revision replaces a document; give its id") }
      saved = try datastore.updateDocument(id: id, revision: try RevisionArgument.read(parent), body: body)
    } else {
      saved = try datastore.createDocument(from: DocumentRevision(id: id, body: body))
    }
    try Output.standard.line(saved.json.text)
  }

  private static func take(_ key: String, from body: inout JSONObject) throws -> String? {
    guard let value = body.removeValue(forKey: key) else { return nil }
    guard let text = value.stringValue else { throw ToolError(.data, "\(key) must be a string") }
    return text
  }
}
