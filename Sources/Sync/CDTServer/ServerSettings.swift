import CDTJSON
import CDTPlatform
import CouchDB
import Synchronization

/// The configuration of a running server: what it was started with, and the settings that admins have changed by request.
///
/// The changes are in a file, by CouchDB's sections:
///
/// ```json
/// {"chttpd": {"require_valid_user": "true"}, "couchdb": {"max_document_size": "50000000"}}
/// ```
///
/// A setting that differs from the defaults when the server is started can't be changed by request, and that of the file is
/// not used.
final class ServerSettings: Sendable {
  /// The settings for requests that begin now.
  final class Current: Sendable {
    let configuration: ServerConfiguration
    let origins: CrossOrigin

    /// - Parameters:
    ///   - given: The names of settings that those of the file don't replace.
    ///   - kept: The values of the file, which were checked when they were read.
    /// - Throws: ``ServerError`` if the settings don't fit together.
    fileprivate init(
      _ start: ServerConfiguration, _ given: Set<String>, _ kept: [String: String]
    ) throws(ServerError) {
      var configuration = start
      for setting in ServerSetting.all where !given.contains(setting.name) {
        if let value = kept[setting.name] { try? setting.set(&configuration, value) }
      }
      self.configuration = configuration
      origins =
        configuration.allowsOrigins && !configuration.origins.isEmpty
        ? try CrossOrigin(
          origins: configuration.origins.sorted(), allowsCredentials: configuration.allowsCredentials) : .off
      let hasUsers = configuration.usersFile != nil
      try Exposure.check(
        address: configuration.host, hasUsers: hasUsers, hasTLS: configuration.tls != nil,
        allowsAnyOrigin: origins.allowsAnyOrigin, isInsecure: configuration.isInsecure)
      guard hasUsers || !configuration.requiresUser else { throw .noUserToRequire }
    }
  }

  private let start: ServerConfiguration
  /// The names of settings that the start of the server has set.
  private let given: Set<String>
  private let state: Mutex<Current>
  /// The names of settings in the file that are not used.
  let overridden: [String]

  init(_ start: ServerConfiguration) throws(ServerError) {
    let defaults = ServerConfiguration(profile: start.profile)
    let given = ServerSetting.all.filter { $0.value(start) != $0.value(defaults) }
    let kept = try start.settingsFile.map { path throws(ServerError) in try Self.read(path) } ?? [:]
    self.start = start
    self.given = Set(given.map(\.name))
    state = Mutex(try Current(start, self.given, kept))
    overridden = given.filter { kept[$0.name] != nil && kept[$0.name] != $0.value(start) }.map(\.name)
  }

  var current: Current { state.withLock { $0 } }

  /// Changes a setting for the requests that follow. It is in the file when the call returns, and unchanged after an error. Waits
  /// for the disk, and for others who change the file.
  ///
  /// - Parameter value: `nil` for the value that the server has without the file.
  /// - Returns: The value before.
  /// - Throws: `CouchError`: 400 for a value that it can't have, 409 if the server was started with another value, 500 if the file
  ///   can't be used.
  func change(_ setting: ServerSetting, to value: String?) throws -> String {
    var changed = start
    if let value { try setting.set(&changed, value) }
    let before = setting.value(current.configuration)
    guard !given.contains(setting.name), let path = start.settingsFile else {
      guard setting.value(changed) == before else {
        throw CouchError.settingIsGiven(setting.name)
      }
      return before
    }
    let deadline = ContinuousClock.now + .seconds(5)
    let lock = try Self.writing(path) {
      try FileLock.take(path + ".lock", isDirectory: false) { ContinuousClock.now < deadline }
    }
    guard let lock else { throw ServerError.settings(path, "another process changes it; try again later") }
    defer { _ = lock }
    var kept = try Self.read(path)
    kept[setting.name] = value.map { _ in setting.value(changed) }
    let next: Current
    do throws(ServerError) {
      next = try Current(start, given, kept)
    } catch {
      throw CouchError.badRequest(error.message)
    }
    try Self.writing(path) { try Files.replace(path, with: Array((Self.json(kept).prettyText + "\n").utf8)) }
    state.withLock { $0 = next }
    return before
  }

  // MARK: File

  private static func read(_ path: String) throws(ServerError) -> [String: String] {
    let file: PrivateFile?
    do throws(PrivateFile.Refusal) {
      file = try PrivateFile.read(path, limit: 1 << 20)
    } catch {
      if case .system(let error) = error, error.isMissing { return [:] }
      throw .settings(path, error.remedy)
    }
    guard let file else { return [:] }
    guard let sections = try? JSONObject(parsing: file.content) else {
      throw .settings(path, "it is not a JSON object; fix it, or remove it and set the settings again")
    }
    var kept: [String: String] = [:]
    for (section, keys) in sections {
      for (key, value) in keys.objectValue ?? [section: keys] {
        let name = "\(section)/\(key)"
        guard let setting = ServerSetting.named(name), case .string(let text) = value else {
          throw .settings(path, "\(name) is not a setting with a text as its value; fix or remove it")
        }
        do throws(CouchError) {
          var configuration = ServerConfiguration()
          try setting.set(&configuration, text)
          kept[setting.name] = setting.value(configuration)
        } catch {
          throw .settings(path, "\(error.reason) Fix or remove it.")
        }
      }
    }
    return kept
  }

  private static func json(_ kept: [String: String]) -> JSONValue {
    var sections = JSONObject()
    for setting in ServerSetting.all {
      if let value = kept[setting.name] { sections.set(setting.name, .string(value)) }
    }
    return .object(sections)
  }

  private static func writing<R: ~Copyable>(_ path: String, _ body: () throws -> R) throws(ServerError) -> R {
    do {
      return try body()
    } catch {
      throw .settings(path, "it can't be written: \(error); allow the server to write it")
    }
  }
}

extension JSONObject {
  /// Sets a setting by its section and its key, such as `cors/origins`.
  mutating func set(_ setting: String, _ value: JSONValue) {
    guard let slash = setting.firstIndex(of: "/") else { return }
    let section = String(setting[..<slash])
    var keys = self[section]?.objectValue ?? [:]
    keys[String(setting[setting.index(after: slash)...])] = value
    self[section] = .object(keys)
  }
}

extension PrivateFile.Refusal {
  /// The problem and the remedy.
  fileprivate var remedy: String {
    switch self {
    case .system(let error): "it can't be read: \(error); check its permissions"
    case .notRegular: "it is not a regular file; remove it"
    case .ownedByAnother: "it belongs to another user of the system, who can change it; change its owner"
    case .sharedAccess: "others can read or write it; run \"chmod 600\" on it"
    case .tooLarge: "it has more than a megabyte; remove it and set the settings again"
    }
  }
}

extension CouchError {
  fileprivate static func settingIsGiven(_ name: String) -> CouchError {
    CouchError(409, "conflict", "\(name) is set where the server is started, as by --cors; change it there.")
  }
}
