import CDTDatastore
import CDTPlatform
import CDTQuery
import CDTRecovery
import CDTTestSupport
import Testing

@Suite(.timeLimit(.usual)) struct EncryptionTests {
  private static let key = Encryption.key((0..<32).map { UInt8($0) })

  private static func options(_ encryption: Encryption? = key) -> DatastoreOptions {
    DatastoreOptions(encryption: encryption)
  }

  /// All bytes of all files, with their paths.
  private static func files(in directory: String) throws -> [(path: String, bytes: [UInt8])] {
    var found: [(String, [UInt8])] = []
    for name in try Files.names(in: directory) {
      let path = "\(directory)/\(name)"
      if try Files.kind(of: path) == .directory {
        found += try files(in: path)
      } else if let file = try OpenFile.regular(path) {
        found.append((path, try file.bytes(at: 0, count: Int(try file.length()))))
      }
    }
    return found
  }

  /// What all words of a test begin with.
  private static let secret = "Confidential"

  private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    let wanted = Array(text.utf8)
    return bytes.withUnsafeBufferPointer { bytes in
      var start = 0
      while let next = bytes[start...].firstIndex(of: wanted[0]) {
        if bytes[next...].starts(with: wanted) { return true }
        start = next + 1
      }
      return false
    }
  }

  @Test func `written documents are read again, after closing and while the store is open`() throws {
    try withTemporaryDirectory { directory in
      for _ in 0..<3 {
        let manager = try DatastoreManager(directory: directory, options: Self.options())
        let store = try manager.datastore(named: "people")
        try store.ensureIndexed(["age"])
        let before = try store.read { try $0.documentCount() }
        try store.write { transaction in
          for number in 0..<500 {
            try transaction.createDocument(
              from: DocumentDraft(
                body: ["age": JSONValue(number), "text": .string(String(repeating: "x", count: number))]))
          }
        }
        #expect(try store.read { try $0.documentCount() } == before + 500)
        #expect(try store.find(["age": 7]).count == before / 500 + 1)
        #expect(try store.checkIntegrity() == [])
        try manager.closeDatastore(named: "people")
      }
    }
  }

  @Test func `no word or name is in any file`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory, options: Self.options())
      let store = try manager.datastore(named: "secrets")
      let words = (0..<1_000).map { "\(Self.secret)-\($0 &* 7919)" }
      try store.ensureIndexed(["hiddenField"], name: "hiddenIndex")
      try store.write { transaction in
        for (number, word) in words.enumerated() {
          var draft = DocumentDraft(
            id: "id-\(word)", body: ["hiddenField": .string(word), "n": JSONValue(number)])
          if number % 100 == 0 {
            draft.attachments["name-\(word)"] = DocumentAttachment(
              data: Data((word + String(repeating: word, count: 20_000)).utf8), name: "name-\(word)",
              contentType: "type/\(word)")
          }
          try transaction.createDocument(from: draft)
        }
      }
      _ = try store.find([:], sort: ["hiddenField"])
      func expectHidden() throws {
        let all = try Self.files(in: directory)
        #expect(all.count > 10)
        for (path, bytes) in all {
          #expect(!Self.contains(bytes, Self.secret), "\(path)")
          #expect(!Self.contains(bytes, "hiddenField"), "\(path)")
        }
      }
      try expectHidden()
      try store.compact()
      try expectHidden()
      try manager.closeDatastore(named: "secrets")
      try expectHidden()
    }
  }

  @Test func `another key, none, and one too many are told`() throws {
    try withTemporaryDirectory { directory in
      do {
        let manager = try DatastoreManager(directory: directory, options: Self.options())
        try manager.datastore(named: "a").createDocument(from: DocumentDraft(id: "x", body: [:]))
        try manager.closeDatastore(named: "a")
        let plain = try DatastoreManager(directory: directory)
        try plain.datastore(named: "b").createDocument(from: DocumentDraft(id: "x", body: [:]))
        try plain.closeDatastore(named: "b")
      }
      let before = try Self.files(in: directory).map(\.bytes)
      let other = Encryption.key([UInt8](repeating: 9, count: 32))
      for encryption in [nil, other, .passphrase("x"), .key([1, 2])] {
        let manager = try DatastoreManager(directory: directory, options: Self.options(encryption))
        let error = #expect(throws: DatastoreError.self) { try manager.datastore(named: "a") }
        #expect(error?.code == .wrongKey)
      }
      let manager = try DatastoreManager(directory: directory, options: Self.options())
      let error = #expect(throws: DatastoreError.self) { try manager.datastore(named: "b") }
      #expect(error?.code == .wrongKey)
      #expect(try Self.files(in: directory).map(\.bytes) == before)
      #expect(try manager.datastore(named: "a").document(withID: "x").id == "x")
    }
  }

  @Test func `an empty passphrase is refused`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory, options: Self.options(.passphrase("")))
      let error = #expect(throws: DatastoreError.self) { try manager.datastore(named: "a") }
      #expect(error?.code == .wrongKey)
      #expect(error?.message.contains("the passphrase is empty") == true)
      let other = try DatastoreManager(directory: directory, options: Self.options(.passphrase("one")))
      try other.datastore(named: "a").createDocument(from: DocumentDraft(id: "x", body: [:]))
      try other.closeDatastore(named: "a")
      for call in [
        { try other.changeEncryption(ofDatastoreNamed: "a", to: .passphrase("")) },
        { try other.reencryptDatastore(named: "a", with: .passphrase("")) },
      ] {
        let error = #expect(throws: DatastoreError.self) { try call() }
        #expect(error?.code == .wrongKey)
      }
      #expect(try other.datastore(named: "a").document(withID: "x").id == "x")
    }
  }

  @Test func `a passphrase opens what it has encrypted, and can be replaced`() throws {
    try withTemporaryDirectory { directory in
      let old = Encryption.passphrase("one"), new = Encryption.passphrase("two")
      func open(_ encryption: Encryption) throws -> DatastoreManager {
        let manager = try DatastoreManager(directory: directory, options: Self.options(encryption))
        try manager.datastore(named: "a")
          .createDocument(from: DocumentDraft(body: ["text": .string(Self.secret)]))
        return manager
      }
      try open(old).closeDatastore(named: "a")
      try DatastoreManager(directory: directory, options: Self.options(old)).changeEncryption(
        ofDatastoreNamed: "a", to: new)
      try open(new).closeDatastore(named: "a")
      let error = #expect(throws: DatastoreError.self) { try open(old) }
      #expect(error?.code == .wrongKey)
      let manager = try open(new)
      #expect(try manager.datastore(named: "a").read { try $0.documentCount() } == 3)
      #expect(!"\(Self.options(new)) \(new)".contains("two"))
    }
  }

  /// A store with documents, attachments and an index, closed; and its files, also those of an earlier state.
  private static func withStore(_ body: (_ directory: String, _ store: String) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory, options: options())
      let store = try manager.datastore(named: "a")
      try store.write { transaction in
        for number in 0..<200 {
          var draft = DocumentDraft(
            id: "\(number)", body: ["n": JSONValue(number), "t": .string(String(repeating: "t", count: 500))])
          if number < 3 {
            draft.attachments["a"] = DocumentAttachment(
              data: Data([UInt8](repeating: UInt8(number), count: 150_000)), name: "a", contentType: "a/b")
          }
          try transaction.createDocument(from: draft)
        }
      }
      try manager.closeDatastore(named: "a")
      try body(directory, "\(directory)/a")
    }
  }

  /// Everything in a store, read and checked. A failure throws or is a finding.
  private static func findings(in directory: String) throws -> [String] {
    do {
      let manager = try DatastoreManager(directory: directory, options: options())
      let store = try manager.datastore(named: "a")
      defer { try? manager.closeDatastore(named: "a") }
      return try store.checkIntegrity().map(\.description)
    } catch let error as DatastoreError {
      return [error.message]
    }
  }

  @Test func `a changed byte of a page or a chunk is noticed, with the name of the file`() throws {
    try Self.withStore { directory, store in
      var random = SystemRandomNumberGenerator()
      // What is changed in the nonces of pages is only noticed where they are valid.
      let files = try Self.files(in: store).filter {
        !$0.path.hasSuffix(".json") && !$0.path.hasSuffix("-seals") && $0.bytes.count > 1_000
      }
      #expect(files.count == 4)
      for (path, bytes) in files {
        for _ in 0..<20 {
          var changed = bytes
          changed[Int.random(in: 0..<bytes.count, using: &random)] ^=
            1 << UInt8.random(in: 0..<8, using: &random)
          try Files.replace(path, with: changed)
          let findings = try Self.findings(in: directory)
          let name = path.split(separator: "/").last ?? ""
          #expect(findings.contains { $0.contains(name) }, "\(path): \(findings)")
          try Files.replace(path, with: bytes)
        }
      }
      #expect(try Self.findings(in: directory) == [])
    }
  }

  @Test func `2,000 changed and exchanged chunks are told with the name of the file`() throws {
    try Self.withStore { directory, store in
      let manager = try DatastoreManager(directory: directory, options: Self.options())
      let open = try manager.datastore(named: "a")
      let attachment = try #require(try open.document(withID: "1").attachments["a"])
      let whole = try attachment.data()
      var random = SystemRandomNumberGenerator()
      for (path, bytes) in try Self.files(in: store + "/attachments") {
        var told = 0
        for _ in 0..<700 {
          var changed = bytes
          if Bool.random(using: &random) {
            let byte = Int.random(in: 0..<bytes.count, using: &random)
            changed[byte] ^= 1 << UInt8.random(in: 0..<8, using: &random)
          } else {
            let (first, second) = (32, 32 + 65_564)
            changed.replaceSubrange(first..<second, with: bytes[second..<second + 65_564])
          }
          try Files.replace(path, with: changed)
          let error = Result {
            try ["0", "1", "2"].map { try open.document(withID: $0).attachments["a"]?.data() }
          }
          if case .failure(let error as DatastoreError) = error, error.code == .corrupt,
            error.message.contains(path.split(separator: "/").last ?? "")
          {
            told += 1
          }
        }
        try Files.replace(path, with: bytes)
        #expect(told == 700, "\(path)")
      }
      #expect(try attachment.data() == whole)
    }
  }

  @Test func `a page or a chunk in another's place is noticed`() throws {
    try Self.withStore { directory, store in
      var random = SystemRandomNumberGenerator()
      for (path, bytes) in try Self.files(in: store) where bytes.count > 10_000 {
        let (start, size) = path.hasSuffix("db.sync") ? (0, 4_096) : (32, 65_564)
        for _ in 0..<10 {
          let count = (bytes.count - start) / size
          let first = Int.random(in: 0..<count, using: &random)
          let second = (first + Int.random(in: 1..<max(2, count), using: &random)) % count
          guard first != second else { continue }
          var changed = bytes
          let (left, right) = (start + first * size, start + second * size)
          changed.replaceSubrange(left..<left + size, with: bytes[right..<right + size])
          changed.replaceSubrange(right..<right + size, with: bytes[left..<left + size])
          try Files.replace(path, with: changed)
          #expect(try Self.findings(in: directory) != [], "\(path) \(first) \(second)")
        }
        try Files.replace(path, with: Array(bytes.dropLast(size)))
        #expect(try Self.findings(in: directory) != [], "\(path) cut off")
        try Files.replace(path, with: bytes)
      }
      #expect(try Self.findings(in: directory) == [])
    }
  }

  @Test func `an earlier state of a page is noticed, with the name of the file`() throws {
    try Self.withStore { directory, store in
      let path = "\(store)/db.sync"
      func pages() throws -> [UInt8] {
        try #require(try Self.files(in: store).first { $0.path == path }).bytes
      }
      let former = try pages()
      let manager = try DatastoreManager(directory: directory, options: Self.options())
      let open = try manager.datastore(named: "a")
      try open.write { transaction in
        for number in 0..<200 { try transaction.updateDocument(withID: "\(number)") { $0.body["n"] = 0 } }
      }
      try manager.closeDatastore(named: "a")
      let now = try pages()
      let changed = stride(from: 0, to: former.count, by: 4_096).filter {
        former[$0..<$0 + 4_096] != now[$0..<$0 + 4_096]
      }
      #expect(changed.count > 20)
      for start in changed {
        var mixed = now
        mixed.replaceSubrange(start..<start + 4_096, with: former[start..<start + 4_096])
        try Files.replace(path, with: mixed)
        let findings = try Self.findings(in: directory)
        #expect(findings.contains { $0.contains("page \(start / 4_096 + 1) of \(path)") }, "\(findings)")
      }
      try Files.replace(path, with: now)
      #expect(try Self.findings(in: directory) == [])
      // Without the nonces no page is believed.
      try Files.remove(path + "-seals")
      #expect(try Self.findings(in: directory).contains { $0.contains("page 1 of \(path)") })
    }
  }

  @Test func `the nonces of an attachment's chunks begin at random and count`() throws {
    try Self.withStore { _, store in
      let files = try Self.files(in: "\(store)/attachments").filter { $0.bytes.count > 150_000 }
      #expect(files.count == 3)
      var beginnings = Set<[UInt8]>()
      for (_, bytes) in files {
        let nonces = (0..<2).map { Array(bytes[(32 + 65_536 + $0 * 65_564)...].prefix(12)) }
        #expect(nonces[0].prefix(8) == nonces[1].prefix(8))
        #expect(nonces.map { Array($0.suffix(4)) } == [[0, 0, 0, 0], [0, 0, 0, 1]])
        beginnings.insert(Array(nonces[0].prefix(8)))
      }
      #expect(beginnings.count == 3)
    }
  }

  @Test func `the file of the key is never guessed`() throws {
    try Self.withStore { directory, store in
      let path = "\(store)/encryption.json"
      let key = try #require(try Self.files(in: store).first { $0.path == path }).bytes
      for content in [[], Array("{}".utf8), Array("{\"format\":1}".utf8), Array(key.dropLast(10))] {
        try Files.replace(path, with: content)
        let error = #expect(throws: DatastoreError.self) {
          try DatastoreManager(directory: directory, options: Self.options()).datastore(named: "a")
        }
        #expect(error?.code == .corrupt)
      }
      try Files.remove(path)
      for options in [Self.options(), Self.options(nil)] {
        let error = #expect(throws: DatastoreError.self) {
          try DatastoreManager(directory: directory, options: options).datastore(named: "a")
        }
        #expect(error?.code == .corrupt)
      }
      try Files.replace(path, with: key)
      #expect(try Self.findings(in: directory) == [])
    }
  }

  @Test func `the rest of a damaged store is recovered into an encrypted store`() throws {
    try Self.withStore { directory, store in
      let path = "\(store)/db.sync"
      var bytes = try #require(try Self.files(in: store).first { $0.path == path }).bytes
      bytes[bytes.count / 2] ^= 1
      try Files.replace(path, with: bytes)
      let manager = try DatastoreManager(directory: directory, options: Self.options())
      let saved = try manager.datastore(named: "saved")
      let report = try saved.recoverDocuments(from: store)
      #expect(report.losses.contains { $0.description.contains("page") })
      #expect(report.documents > 150)
      #expect(try saved.read { try $0.documentCount() } == report.documents)
    }
  }
}
