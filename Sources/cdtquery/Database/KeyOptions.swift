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

  /// The options with which this run opens stores.
  ///
  /// A file of 32 bytes is a key; of any other the first line is a passphrase. In the environment, 64 hexadecimal digits are a
  /// key, and any other text is a passphrase. A file comes first.
  static func storeOptions() throws -> DatastoreOptions {
    if let path = file.withLock({ $0 }) { return DatastoreOptions(encryption: try secret(in: path)) }
    guard let text = ProcessInfo.processInfo.environment[variable] else { return DatastoreOptions() }
    guard !text.isEmpty else { throw ToolError(.data, "\(variable) is empty; unset it, or set the key") }
    let key = text.utf8.count == 64 ? Hexadecimal.bytes(text) : nil
    return DatastoreOptions(encryption: key.map(Encryption.key) ?? .passphrase(text))
  }

  /// The key or the passphrase in a file.
  static func secret(in path: String) throws(ToolError) -> Encryption {
    let content: [UInt8]
    do throws(SystemError) {
      content = try OpenFile.regular(path)?.bytes(at: 0, count: longest) ?? []
    } catch {
      throw ToolError(error.isMissing ? .missing : .io, "can't read \(path): \(error); check the path")
    }
    if content.count == 32 { return .key(content) }
    var line = content.prefix { $0 != UInt8(ascii: "\n") }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard !line.isEmpty, content.count < longest, let text = String(validating: line, as: UTF8.self) else {
      throw ToolError(
        .data, "\(path) has neither 32 bytes nor a line of text; make a key with \"openssl rand 32\"")
    }
    return .passphrase(text)
  }
}
