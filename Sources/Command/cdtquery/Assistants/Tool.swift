import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery

/// An operation that an assistant can call, with its arguments.
struct Tool: Sendable {
  let name: String
  private let description: String
  /// The arguments; the first ones are required.
  let arguments: [SharedArgument]
  let required: Int
  private let isDestructive: Bool
  private let isForWriting: Bool
  let run: @Sendable (ToolCall) async throws -> JSONObject

  init(
    _ name: String, _ description: String, required: [SharedArgument], _ optional: [SharedArgument] = [],
    isForWriting: Bool = false, isDestructive: Bool = false,
    _ run: @escaping @Sendable (ToolCall) async throws -> JSONObject
  ) {
    (self.name, self.description, self.run) = (name, description, run)
    (arguments, self.required) = (required + optional, required.count)
    (self.isForWriting, self.isDestructive) = (isForWriting, isDestructive)
  }

  /// The tool as `tools/list` has it.
  var json: JSONObject {
    [
      "name": .string(name), "description": .string(description),
      "inputSchema": [
        "type": "object",
        "properties": .object(JSONObject(arguments.map { ($0.name, .object($0.schema)) })),
        "required": .array(arguments.prefix(required).map { .string($0.name) }),
        "additionalProperties": false,
      ],
      "annotations": [
        "readOnlyHint": .bool(!isForWriting), "destructiveHint": .bool(isDestructive),
        "openWorldHint": false,
      ],
    ]
  }
}

/// The limits of an answer.
struct AnswerLimits: Sendable {
  let rows: Int
  let bytes: Int
  /// The time that a call may take.
  let time: Duration
}

/// The stores that the tools use.
struct ServedStores: Sendable {
  let directories: [String]
  let limits: AnswerLimits
  let isWritable: Bool
  /// Whether the rules of the stores are enforced for a user.
  let hasUser: Bool
  /// Whether the tools create indexes. They would reveal documents that a user does not see.
  var createsIndexes: Bool { isWritable && !hasUser }

  /// The stores of a directory, or the one that has a name. Those behind symbolic links are left out: they are in another directory.
  func stores(in directory: String, named name: String? = nil) throws -> [StoreArgument] {
    guard let real = try Files.realPath(directory) else {
      throw ToolError(.missing, "there is no directory \(directory) any more")
    }
    let start = real == "/" ? "" : real
    return try Stores.manager(of: directory, worksInBackground: isWritable).databaseNames().map {
      StoreArgument(directory: directory, name: $0.directoryName)
    }.filter { store in
      guard name.map(store.path.hasSameBytes) ?? true else { return false }
      return try Files.realPath("\(directory)/\(store.name)")?.hasSameBytes(as: "\(start)/\(store.name)")
        ?? false
    }
  }

  /// The store that has a name, which is in one of the directories.
  func store(named name: String) throws -> StoreArgument {
    let wanted = StoreArgument(argument: name)
    guard let directory = directories.first(where: { $0.hasSameBytes(as: wanted?.directory ?? "") }),
      let store = try stores(in: directory, named: name).first
    else {
      let all = directories.flatMap { (try? stores(in: $0)) ?? [] }.map(\.path)
      let meant = (all.first { $0.hasSuffix("/\(name)") } ?? NearestName.of(name, among: all))
        .map { " (did you mean \"\($0)\"?)" }
      throw ToolError(
        .missing,
        "there is no store \"\(name.boundedMessage)\"\(meant ?? ""); list_stores lists the stores")
    }
    return store
  }

  func open(_ store: StoreArgument) throws -> Datastore {
    try store.open(worksInBackground: isWritable)
  }
}

/// A call of a tool, with arguments that are known and of the right kind.
struct ToolCall: Sendable {
  let stores: ServedStores
  private(set) var arguments: JSONObject

  var limits: AnswerLimits { stores.limits }

  init(of tool: Tool, _ arguments: JSONValue?, in stores: ServedStores) throws {
    self.stores = stores
    switch arguments {
    case nil, .null?: self.arguments = [:]
    case .object(let members)?: self.arguments = members.filter { $0.value != .null }
    case .some: throw ToolError(.usage, "arguments must be an object")
    }
    for (name, value) in self.arguments {
      guard let argument = tool.arguments.first(where: { $0.name == name }) else {
        let names = tool.arguments.map(\.name)
        let other = Self.otherNames[name]?.first(where: names.contains)
        let meant =
          (other ?? NearestName.of(name, among: names)).map { " (did you mean \"\($0)\"?)" } ?? ""
        throw ToolError(
          .usage,
          "\(tool.name) has no argument \"\(name.boundedMessage)\"\(meant); its arguments are \(names.joined(separator: ", "))"
        )
      }
      self.arguments[name] = try argument.checked(value)
    }
    for argument in tool.arguments.prefix(tool.required) where self.arguments[argument.name] == nil {
      throw ToolError(.usage, "\(tool.name) needs the argument \"\(argument.name)\"")
    }
  }

  /// The arguments that other tools have in place of these.
  private static let otherNames: [String: [String]] = [
    "filter": ["selector", "matching"], "query": ["selector", "matching"], "where": ["selector", "matching"],
    "matching": ["selector"], "selector": ["matching"], "projection": ["fields"], "order_by": ["sort"],
  ]

  subscript(argument: SharedArgument) -> JSONValue? { arguments[argument.name] }

  func string(_ argument: SharedArgument) -> String? { self[argument]?.stringValue }

  /// A whole number of 0 or more.
  func count(_ argument: SharedArgument) throws -> Int? {
    guard let value = self[argument] else { return nil }
    guard let count = value.intValue, count >= 0 else {
      throw ToolError(.usage, "\(argument.name) must be a whole number, 0 or more")
    }
    return count
  }

  func strings(_ argument: SharedArgument) -> [String] {
    self[argument]?.arrayValue?.compactMap(\.stringValue) ?? []
  }

  func object(_ argument: SharedArgument) -> JSONObject { self[argument]?.objectValue ?? [:] }

  var store: StoreArgument {
    get throws { try stores.store(named: string(.store) ?? "") }
  }

  /// Opens the store.
  func open() throws -> Datastore { try stores.open(store) }

  /// The arguments as a request, with a selector.
  func request(_ names: [SharedArgument]) -> JSONObject {
    var request: JSONObject = ["selector": .object(object(.selector))]
    for name in names { request[name.name] = self[name] }
    return request
  }

  /// Reads the store, within the time limit.
  func reading<R: Sendable>(_ body: @Sendable (Datastore) async throws -> R) async throws -> R {
    let datastore = try open()
    do {
      return try await Datastore.withDeadline(.now + limits.time) { try await body(datastore) }
    } catch let error as DatastoreError where error.code == .timedOut {
      throw ToolError(
        .busy,
        "the call took longer than \(limits.time / .seconds(1)) s; explain shows whether an index would help")
    } catch let error as QueryError where error.lacksTextIndex && stores.createsIndexes {
      let arguments: JSONObject = try ["store": .string(store.path), "fields": ["FIELD"], "type": "text"]
      throw ToolError(.data, "\(error): call create_index with \(arguments.text)")
    }
  }
}

extension SharedArgument {
  /// The value, if it is of the right kind. Some assistants write objects, arrays and numbers as strings of JSON.
  fileprivate func checked(_ value: JSONValue) throws(ToolError) -> JSONValue {
    if isOfKind(value) { return value }
    if let text = value.stringValue, let parsed = try? JSONValue(parsing: text), isOfKind(parsed) {
      return parsed
    }
    throw ToolError(.usage, "\(name) must be \(kind.described), not \(value.text.boundedMessage)")
  }

  private func isOfKind(_ value: JSONValue) -> Bool {
    switch (kind, value) {
    case (.string, .string), (.boolean, .bool), (.object, .object), (.options, .object), (.options, .bool):
      true
    case (.integer, _): value.intValue != nil
    case (.number, _): value.doubleValue != nil
    case (.strings, .array(let elements)): elements.allSatisfy { $0.stringValue != nil }
    case (.fields, .array(let elements)):
      elements.allSatisfy { $0.stringValue != nil || $0.objectValue != nil }
    default: false
    }
  }
}

extension SharedArgument.Kind {
  fileprivate var described: String {
    switch self {
    case .integer: "a whole number"
    case .object, .options: "an object"
    case .strings: "an array of strings"
    case .fields: "an array of strings and objects"
    case .string, .number, .boolean: "a \(schemaType)"
    }
  }
}
