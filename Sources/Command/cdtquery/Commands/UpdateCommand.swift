import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct UpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Change fields of the documents that match a selector.",
    discussion: """
      All of them are changed, in one transaction, or none. Changes are made in the order --rename, --set, --unset, --increment, \
      --append, --remove. Values are JSON. --rename replaces what is at the new name, and leaves a document without the field as it is.

      EXAMPLE
        $ cdtquery update people/contacts '{"_id": "zoe"}' --increment age --yes
        1 updated
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: SharedArgument.updated.option) var selector: String
  @Option(help: ArgumentHelp("Move a value to another field.", valueName: "field=name")) var rename:
    [String] =
      []
  @Option(help: ArgumentHelp("Assign a value.", valueName: "field=value")) var set: [String] = []
  @Option(help: ArgumentHelp("Remove a field.", valueName: "field")) var unset: [String] = []
  @Option(help: ArgumentHelp("Add to a number; 1 without a value.", valueName: "field=number"))
  var increment: [String] = []
  @Option(help: ArgumentHelp("Add an element to an array.", valueName: "field=value")) var append: [String] =
    []
  @Option(help: ArgumentHelp("Remove the elements of an array that equal a value.", valueName: "field=value"))
  var remove: [String] = []
  @OptionGroup var change: BulkChange

  func validate() throws {
    guard !(rename + set + unset + increment + append + remove).isEmpty else {
      throw ValidationError(
        "nothing is to be changed; give --rename, --set, --unset, --increment, --append or --remove")
    }
  }

  func run() throws {
    let query = try Query(SelectorArgument.selector(selector))
    let changes = try changes
    try change.run("update", query, in: store) { try $0.update(matching: query, changes) }
  }

  private var changes: [FieldChange] {
    get throws {
      try rename.map { try Self.renaming($0) }
        + set.map { try Self.change($0, "set", FieldChange.set) }
        + unset.map { .unset($0) }
        + increment.map {
          $0.contains("=") ? try Self.change($0, "increment") { .increment($0, by: $1) } : .increment($0)
        }
        + append.map { try Self.change($0, "append", FieldChange.append) }
        + remove.map { try Self.change($0, "remove", FieldChange.remove) }
    }
  }

  /// Reads `FIELD=NAME`.
  private static func renaming(_ text: String) throws(ToolError) -> FieldChange {
    let names = text.splitBytes(at: "=")
    guard names.count == 2 else {
      throw ToolError(.usage, "--rename \(text): write a field and its new name, as in --rename stat=state")
    }
    return .rename(names[0], to: names[1])
  }

  /// Reads `FIELD=VALUE`.
  private static func change(
    _ text: String, _ option: String, _ make: (String, JSONValue) -> FieldChange
  ) throws -> FieldChange {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      throw ToolError(.usage, "--\(option) \(text): there is no value; write --\(option) FIELD=VALUE")
    }
    do {
      return make(String(parts[0]), try JSONValue(parsing: String(parts[1])))
    } catch {
      throw ToolError(
        .usage,
        "--\(option) \(text): the value is not JSON (\(error)); a string is written as '\(parts[0])=\"\(parts[1])\"'"
      )
    }
  }
}
