import CDTJSON
import CDTPlatform
import CDTQuery
import Synchronization

/// The session of an assistant: JSON-RPC messages by the Model Context Protocol, one on a line.
///
/// Calls of tools run at the same time. A request is answered exactly once, unless it is cancelled.
final class AssistantSession: Sendable {
  /// The versions of the protocol that begin with `initialize`, the newest first.
  private static let versions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
  /// The version in which each request names it, in a member of `_meta`.
  private static let statelessVersion = "2026-07-28"
  private static let versionMember = "io.modelcontextprotocol/protocolVersion"
  /// The length of the longest message, in bytes.
  static let longestMessage = 16 * 1024 * 1024
  /// More calls at a time are refused.
  private static let maximumCalls = 64

  private let tools: [Tool]
  private let stores: ServedStores
  private let write: @Sendable (JSONObject) -> Void
  private let calls = Mutex(Calls())

  private struct Calls {
    /// The calls that have no answer yet, by the ids of their requests.
    var open: [JSONValue: Task<Void, Never>] = [:]
    /// The calls whose answers are being written. Their ids may be used again.
    var answered: Set<Task<Void, Never>> = []
  }

  /// - Parameter write: Writes a message.
  init(_ tools: [Tool], of stores: ServedStores, write: @escaping @Sendable (JSONObject) -> Void) {
    (self.tools, self.stores, self.write) = (tools, stores, write)
  }

  /// Answers a message, or begins to.
  func receive(_ text: [UInt8]) {
    let message: JSONValue
    do {
      message = try JSONValue(parsing: text)
    } catch {
      return refuse(.null, .parseError, "the message is not JSON: \(error)")
    }
    guard case .object(let object) = message else {
      return refuse(.null, .invalidRequest, "a message must be an object; batches are not supported")
    }
    // An answer; this session asks for nothing.
    if object["method"] == nil, object["result"] != nil || object["error"] != nil { return }
    let id = object["id"]
    let isValidID = id.map { $0.stringValue != nil || $0.intValue != nil } ?? true
    guard object["jsonrpc"] == "2.0", let method = object["method"]?.stringValue, isValidID else {
      return refuse(
        isValidID ? id ?? .null : .null, .invalidRequest,
        "a request needs \"jsonrpc\": \"2.0\", a method, and an id that is a string or a whole number")
    }
    let parameters: JSONObject
    switch object["params"] {
    case nil, .null?: parameters = [:]
    case .object(let members)?: parameters = members
    case .some:
      if let id { refuse(id, .invalidParams, "params must be an object") }
      return
    }
    guard let id else { return note(method, parameters) }
    let version = parameters["_meta"]?[Self.versionMember]
    guard version == nil || version == .string(Self.statelessVersion) else {
      return refuse(
        id, .unsupportedVersion, "this version of the protocol is not supported",
        data: ["supported": [.string(Self.statelessVersion)], "requested": version ?? .null])
    }
    answer(Request(id: id, isStateless: version != nil), method, parameters)
  }

  /// Answers a message that was too long to be read.
  func refuseLongMessage() {
    refuse(.null, .invalidRequest, "a message has more than \(Self.longestMessage) bytes")
  }

  /// Waits until the calls that have begun are answered.
  func finish() async {
    while let task = calls.withLock({ $0.open.first?.value ?? $0.answered.first }) { await task.value }
  }

  private func note(_ method: String, _ parameters: JSONObject) {
    guard method == "notifications/cancelled", let id = parameters["requestId"] else { return }
    calls.withLock { $0.open[id] }?.cancel()
  }

  private struct Request {
    let id: JSONValue
    let isStateless: Bool
  }

  private func answer(_ request: Request, _ method: String, _ parameters: JSONObject) {
    switch method {
    case "initialize":
      let version = Self.versions.first { .string($0) == parameters["protocolVersion"] }
      var result = Self.introduction
      result["protocolVersion"] = .string(version ?? Self.versions[0])
      reply(request, result)
    case "server/discover":
      var result = Self.introduction
      result["supportedVersions"] = [.string(Self.statelessVersion)]
      reply(request, result, isCacheable: true)
    case "ping": reply(request, [:])
    case "tools/list":
      reply(request, ["tools": .array(tools.map { .object($0.json) })], isCacheable: true)
    case "tools/call": call(request, parameters)
    default: refuse(request.id, .methodNotFound, "there is no method \"\(method.boundedMessage)\"")
    }
  }

  private static var introduction: JSONObject {
    [
      "capabilities": ["tools": [:]],
      "serverInfo": ["name": "cdtquery", "title": "CDTDatastore", "version": .string(Version.current)],
      "instructions": .string(
        "Stores of JSON documents, queried by selectors as MongoDB and CouchDB have them. list_stores names the stores; describe "
          + "shows the fields of the documents of a store, with their types and examples, which selectors need. If an answer has "
          + "\"more\", results are left out; for these, call the tool again with the arguments in its member \"add\"."
      ),
    ]
  }

  // MARK: Calls of tools

  private func call(_ request: Request, _ parameters: JSONObject) {
    let id = request.id
    let name = parameters["name"]?.stringValue ?? ""
    guard let tool = tools.first(where: { $0.name == name }) else {
      let remedy =
        if !Tool.writing.contains(where: { $0.name == name }) {
          "the tools are \(tools.map(\.name).joined(separator: ", "))"
        } else if stores.isWritable {
          "with --as no index can be created: it would reveal documents that the user does not see"
        } else {
          "it writes, which needs cdtquery mcp --write"
        }
      return refuse(id, .invalidParams, "there is no tool \"\(name.boundedMessage)\"; \(remedy)")
    }
    let token = parameters["_meta"]?["progressToken"].flatMap { $0 == .null ? nil : $0 }
    calls.withLock { calls in
      guard calls.open[id] == nil else {
        return refuse(
          .null, .invalidRequest,
          "the request with the id \(id.text.boundedMessage) has not been answered yet")
      }
      guard calls.open.count < Self.maximumCalls else {
        return refuse(
          id, .tooMany, "\(Self.maximumCalls) calls have not been answered yet; wait for an answer")
      }
      calls.open[id] = Task.detached {
        let answer = await self.result(of: tool, parameters["arguments"], reportingTo: token)
        let task = self.calls.withLock { calls in
          let task = calls.open.removeValue(forKey: id)
          if let task { calls.answered.insert(task) }
          return task
        }
        switch answer {
        case .success(let result)?: self.reply(request, result)
        case .failure(let fault)?: self.refuse(id, .internalError, fault.description)
        case nil: break
        }
        if let task { _ = self.calls.withLock { $0.answered.remove(task) } }
      }
    }
  }

  /// An error that no tool should have.
  private struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  /// The result of a call; `nil` if it was cancelled.
  private func result(
    of tool: Tool, _ arguments: JSONValue?, reportingTo token: JSONValue?
  ) async -> Result<JSONObject, Fault>? {
    let ticking = token.map { token in Task { await tick(token) } }
    let result: Result<JSONObject, Fault>?
    do {
      let call = try ToolCall(of: tool, arguments, in: stores)
      result = .success(Self.content(try await tool.run(call).text))
    } catch is CancellationError {
      result = nil
    } catch {
      result =
        ExitStatus(error) != nil
        ? .success(Self.content(ErrorText.of(error), isError: true))
        : .failure(Fault(description: "\(error); this is an internal error of cdtquery, please report it"))
    }
    ticking?.cancel()
    await ticking?.value
    return result
  }

  /// Reports every second that the call goes on.
  private func tick(_ token: JSONValue) async {
    for seconds in 1...Int64.max {
      guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
      write([
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": ["progressToken": token, "progress": .int(seconds), "message": "\(seconds) s"],
      ])
    }
  }

  private static func content(_ text: String, isError: Bool = false) -> JSONObject {
    ["content": [["type": "text", "text": .string(text)]], "isError": .bool(isError)]
  }

  // MARK: Messages

  private enum ErrorCode: Int64 {
    case parseError = -32_700
    case invalidRequest = -32_600
    case methodNotFound = -32_601
    case invalidParams = -32_602
    case internalError = -32_603
    case tooMany = -32_000
    case unsupportedVersion = -32_022
  }

  private func reply(_ request: Request, _ result: JSONObject, isCacheable: Bool = false) {
    var result = result
    if request.isStateless {
      result["resultType"] = "complete"
      if isCacheable { (result["ttlMs"], result["cacheScope"]) = (0, "private") }
    }
    write(["jsonrpc": "2.0", "id": request.id, "result": .object(result)])
  }

  private func refuse(_ id: JSONValue, _ code: ErrorCode, _ message: String, data: JSONValue? = nil) {
    var error: JSONObject = ["code": .int(code.rawValue), "message": .string(message)]
    error["data"] = data
    write(["jsonrpc": "2.0", "id": id, "error": .object(error)])
  }
}
