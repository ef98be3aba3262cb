import ArgumentParser
import CDTDatastore

struct RekeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Encrypt a store with another key, or make it one that is not encrypted.",
    discussion: """
      All files of the store are written again, encrypted with a new random key, which the key or the passphrase opens. For a store that \
      is not encrypted, leave out --key-file; with --no-key it is not encrypted any more. Without a new key, the former one opens \
      the store again.

      With --secret-only only encryption.json is written: another key or passphrase then opens the store, but anyone who has the former one and \
      an old copy of the store's encryption.json can still decrypt it.

      The store must not be in use. It needs space for all files once more. If a run is interrupted, the store is as it was or has the new \
      key; run the command again to finish. A former key that does not open the store is refused, also if the new one does.

      EXAMPLE
        $ umask 077; echo "correct horse battery staple" > passphrase
        $ cdtquery rekey people/contacts --new-key-file passphrase
        $ cdtquery count people/contacts '{}' --key-file passphrase
        2
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @Option(help: "The file with the new key or passphrase.") var newKeyFile: String?
  @Flag(help: "Make the store one that is not encrypted.") var noKey = false
  @Flag(help: "Change only what opens the store.") var secretOnly = false
  @Flag(help: "Show no progress.") var quiet = false

  func validate() throws {
    if noKey, newKeyFile != nil { throw ValidationError("use either --new-key-file or --no-key") }
    if secretOnly, newKeyFile == nil { throw ValidationError("name the new key with --new-key-file") }
  }

  func run() throws {
    let new =
      try newKeyFile.map { try KeyOptions.secret(in: $0) }
      ?? (noKey ? nil : KeyOptions.storeOptions().encryption)
    do {
      let manager = try store.manager()
      if secretOnly, let new {
        return try manager.changeEncryption(ofDatastoreNamed: store.databaseName, to: new)
      }
      let progress = ProgressBar(noun: "documents and attachments", isQuiet: quiet)
      defer { progress.clear() }
      try manager.reencrypt(store.databaseName, new) { progress.show($0, of: $1) }
    } catch let error as DatastoreError where error.code == .notFound {
      guard try Stores.isDirectory(store.path) else { throw store.missing }
      throw error
    }
  }
}
