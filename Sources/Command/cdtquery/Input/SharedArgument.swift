import ArgumentParser
import CDTJSON

/// An argument of a tool of `cdtquery mcp`, which most share with an option of a command: its name, its help and its JSON.
struct SharedArgument: Sendable {
  enum Kind: Sendable {
    case string, integer, number, boolean, object
    /// An object, or `true` for one without members.
    case options
    /// An array of strings.
    case strings
    /// An array of strings and objects, as in `["name", {"age": "desc"}]`.
    case fields
  }

  /// The name in JSON.
  let name: String
  let kind: Kind
  /// A sentence without its period.
  private let help: String
  /// An example of the argument as a word of the command line, if it is one, and as JSON.
  private let examples: (word: String?, json: String)?
  /// A note after the sentence.
  private let note: String

  init(
    _ name: String, _ kind: Kind, _ help: String, as examples: (word: String?, json: String)? = nil,
    note: String = ""
  ) {
    (self.name, self.kind, self.help, self.examples, self.note) = (name, kind, help, examples, note)
  }

  /// The help of the argument of a command.
  var option: ArgumentHelp { ArgumentHelp(stringLiteral: text(examples?.word)) }

  private func text(_ example: String?) -> String {
    "\(help)\(example.map { ", as in \($0)" } ?? "").\(note.isEmpty ? "" : " \(note)")"
  }

  /// The JSON Schema of the argument of a tool.
  var schema: JSONObject {
    var schema: JSONObject = ["type": .string(kind.schemaType), "description": .string(text(examples?.json))]
    switch kind {
    case .strings: schema["items"] = ["type": "string"]
    // Not a list of types, which some models refuse.
    case .fields: schema["items"] = ["anyOf": [["type": "string"], ["type": "object"]]]
    case .string, .integer, .number, .boolean, .object, .options: break
    }
    return schema
  }
}

extension SharedArgument.Kind {
  var schemaType: String {
    switch self {
    case .string: "string"
    case .integer: "integer"
    case .number: "number"
    case .boolean: "boolean"
    case .object, .options: "object"
    case .strings, .fields: "array"
    }
  }
}

// MARK: Queries

extension SharedArgument {
  static let selector = Self("selector", .object, "The selector", note: "(default: every document)")
  static let sort = Self(
    "sort", .fields, "Fields to sort by", as: ("name,age:desc", #"["name", {"age": "desc"}]"#))
  static let fields = Self(
    "fields", .strings, "Fields to return", as: ("name,pet.species", #"["name", "pet.species"]"#))
  static let limit = Self("limit", .integer, "The maximum number of results; 0 means no limit")
  static let skip = Self("skip", .integer, "The number of matches to skip")
  static let useIndex = Self("use_index", .string, "The index to use")
  static let collation = Self(
    "collation", .string, "The comparison of strings: nocase or unicode", note: "(default: by their bytes)")
  static let include = Self(
    "include", .object, "Documents to return beside the results, by a name and the path of their ids",
    as: ("owner=ownerId", #"{"owner": "ownerId"}"#))
  static let snippets = Self(
    "snippets", .options, "Print the text around what $text finds",
    note: "Any of words, limit, before and after can be given.")
  static let distance = Self("distance", .boolean, "Print the distance of each result of a query with $near")
  static let bookmark = Self("bookmark", .string, "The bookmark of the page after which this one begins")
  static let field = Self("field", .string, "The field", as: ("pet.species", "pet.species"))
  static let by = Self(
    "by", .strings, "Fields whose values make the groups",
    as: ("city,pet.species", #"["city", "pet.species"]"#))
  static let having = Self("having", .object, "The selector of the rows")
  static let unwind = Self("unwind", .string, "The array whose elements are grouped one by one")
}

// MARK: Documents and changes

extension SharedArgument {
  static let ids = Self("ids", .strings, "The documents' ids")
  static let id = Self("id", .string, "The id of a document")
  static let since = Self(
    "since", .integer, "The sequence after which to start", note: "(default: the beginning)")
  static let changes = Self("limit", .integer, "The maximum number of changes")
  static let matching = Self(
    "matching", .object, "The selector of the documents to delete; {} selects every document")
  static let updated = Self("selector", .object, "The selector; {} selects every document")
  static let dryRun = Self("dry_run", .boolean, "Only count the documents that would change")
}

// MARK: Indexes

extension SharedArgument {
  static let indexName = Self(
    "name", .string, "The index's name", note: "(default: generated from the fields)")
  static let indexType = Self(
    "type", .string,
    "The type of index: json, for values in order, text, for $text, place, for $near and $geoWithin, or vector, for $near"
  )
  static let tokenize = Self(
    "tokenize", .string, "The tokenizer of a text index: simple, porter, unicode61 or trigram")
  static let vector = Self("vector", .integer, "The length of the vectors of an index of vectors")
  static let filter = Self(
    "where", .object, "The selector of the documents that the index holds", note: "(default: all)")
  static let unique = Self("unique", .boolean, "Refuse writes that would give two documents the same values")
}
