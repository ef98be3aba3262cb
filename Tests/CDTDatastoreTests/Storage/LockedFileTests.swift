import CDTPlatform
import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore

/// Closing a file drops all locks of it that the process has (fcntl(2)), and so those of SQLite.
@Suite struct LockedFileTests {
  @Test(arguments: ["beside", "encrypted-beside"])
  func `no operation opens a file that SQLite has open`(_ command: String) throws {
    try withTemporaryDirectory(inMemory: true) { scratch in
      let program = try BuiltProgram(
        "cdt-crashtest", [command, scratch], faults: .init(directory: "\(scratch)/work"))
      let (status, output) = try program.end()
      #expect(status == 0, "\(output)")
      let lines = output.split(separator: "\n")
      #expect(lines.filter { $0.hasPrefix("PROBLEM") } == [])
      #expect(lines.count { $0.hasPrefix("did") } > 30, "\(output)")
    }
  }

  @Test(arguments: [Encryption?.none, .key([UInt8](repeating: 7, count: 32))])
  func `SQLite locks no file whose writes are watched`(_ encryption: Encryption?) throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.encryption = encryption
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try manager.datastore(named: "store")
      var locks: Set<String> = []
      try store.write { transaction in
        try transaction.createDocument(from: DocumentDraft(body: [:]))
        locks = Set(try systemLocks().keys)
      }
      func isLocked(_ name: String) throws -> Bool {
        var status = stat()
        guard stat("\(directory)/store/\(name)", &status) == 0 else { return false }
        return locks.contains { $0.hasSuffix(":\(status.st_ino)") }
      }
      #expect(try isLocked("db.sync-shm"))
      let watched = DirectoryWatch.fileNames
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: "\(directory)/store").contains(
          where: watched.contains))
      for name in watched { #expect(try !isLocked(name), "\(name)") }
    }
  }
}
