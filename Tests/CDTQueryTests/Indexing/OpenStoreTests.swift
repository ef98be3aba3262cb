import CDTQuery
import CDTTestSupport
import FoundationEssentials
import Testing

@testable import CDTDatastore

/// The open files of open datastores.
@Suite struct OpenStoreTests {
  @Test func `a datastore needs few open files`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      var stores: [Datastore] = []
      for number in 0..<20 { stores.append(try manager.datastore(named: "store\(number)")) }
      defer { for store in stores { manager.close(store.name) } }
      #expect(try openFiles(in: directory) == 4 * 20)
      for store in stores { try store.createDocument(from: DocumentDraft(body: ["a": 1])) }
      #expect(try openFiles(in: directory) == 6 * 20)
      for store in stores {
        try store.ensureIndexed(["a"])
        #expect(try store.count(["a": 1]) == 1)
        try store.createDocument(from: DocumentDraft(body: ["a": 1]))
      }
      // Work in the background may need some more.
      #expect(try openFiles(in: directory) <= 20 * 20)
    }
  }

  /// The number of this process's open files below a directory.
  private func openFiles(in directory: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      return path?.hasPrefix(directory) ?? false
    }
  }
}
