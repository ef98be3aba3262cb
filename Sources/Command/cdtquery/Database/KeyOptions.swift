import ArgumentParser
import CDTDatastore
import CDTPlatform
import Synchronization

/// The option of commands that open stores, which may be encrypted.
struct KeyOptions: ParsableArguments {
  static let variable = "CDTQUERY_KEY"
  private static let longest = 4_096
  /// The file that was given, for this run.
  private static let file = Mutex<String?>(nil)

  @Option(help: "The file with the key or the passphrase of an encrypted store.") var keyFile: String?

  func validate() {
    if let keyFile { Self.file.withLock { $0 = keyFile } }
  }

  /// The options with which this run opens stores: the secret is in the file, or else in the variable.
  static func storeOptions() throws -> DatastoreOptions {
    if let path = file.withLock({ $0 }) { return DatastoreOptions(encryption: try secret(in: path)) }
    guard let text = ProcessInfo.processInfo.environment[variable] else { return DatastoreOptions() }
    guard !text.isEmpty else { throw ToolError(.data, "\(variable) is empty; unset it, or set the key") }
    return DatastoreOptions(encryption: try secret(of: Array(text.utf8), in: variable))
  }

  /// The key or the passphrase in a file.
  static func secret(in path: String) throws(ToolError) -> Encryption {
    let content: [UInt8]
    do throws(SystemError) {
      let file = try OpenFile.regular(path)
      content = try file?.bytes(at: 0, count: longest) ?? []
      if try file?.status().isPublic == true {
        say("everybody can read \(path), which has the key; make it private with \"chmod 600 \(path)\"")
      }
    } catch {
      throw ToolError(error.isMissing ? .missing : .io, "can't read \(path): \(error); check the path")
    }
    guard content.count < longest else {
      throw ToolError(.data, "\(path) is too long for a key or a passphrase; check the path")
    }
    return try secret(of: content, in: path)
  }

  private static func secret(of content: [UInt8], in place: String) throws(ToolError) -> Encryption {
    let secret: Encryption
    do throws(DatastoreError) {
      secret = try Encryption(secret: content)
    } catch {
      throw ToolError(.data, "\(place): \(error)")
    }
    if case .passphrase(let text) = secret { noteDoubts(about: text, in: place) }
    return secret
  }

  // MARK: Messages

  /// A passphrase with fewer characters can be guessed in no time.
  private static let fewestCharacters = 8

  /// Says that a text was taken as a passphrase, if it may be meant as a key or is too short.
  private static func noteDoubts(about text: String, in place: String) {
    let isNearKey =
      text.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil } && (48...80).contains(text.utf8.count)
    guard text.count < fewestCharacters || isNearKey else { return }
    let what =
      "\(place) was taken as a passphrase of \(text.count) \(text.count == 1 ? "character" : "characters")"
    say(
      isNearKey
        ? "\(what), as a key has 64 hexadecimal digits"
        : "\(what); take a longer one, or a key of 64 hexadecimal digits")
  }

  /// The messages that this run has written.
  private static let said = Mutex<Set<String>>([])

  private static func say(_ message: String) {
    if said.withLock({ $0.insert(message).inserted }) { Message.write("cdtquery: \(message)") }
  }
}
