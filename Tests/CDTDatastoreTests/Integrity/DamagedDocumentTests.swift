import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

@Suite struct DamagedDocumentTests {
  @Test func `an error over a damaged page names the document, and others can be read`() throws {
    try withTemporaryDirectory { try Self.check(in: $0) }
  }

  private static func check(in directory: String) throws {
    let text = String(repeating: "x", count: 100_000)
    do {
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      for id in ["small", "large"] {
        try store.createDocument(
          from: DocumentDraft(id: id, body: ["text": .string(id == "large" ? text : "")]))
      }
      try manager.closeDatastore(named: "store")
    }
    let file = URL(filePath: "\(directory)/store/db.sync")
    var bytes = try Data(contentsOf: file)
    let place = try #require(bytes.range(of: Data(text.utf8.prefix(4_000)))).lowerBound
    bytes[place] ^= 1
    try bytes.write(to: file)

    let manager = try DatastoreManager(directory: directory)
    let store = try manager.datastore(named: "store")
    for read in [
      { _ = try store.document(withID: "large") },
      { _ = try store.read { try $0.documentText(withID: "large") } },
      { try store.write { _ = try $0.document(withID: "large") } },
    ] {
      let error = #expect(throws: DatastoreError.self, performing: read)
      #expect(error?.code == .corrupt)
      #expect(error?.documentID == "large")
      #expect(error?.message.hasPrefix(#"document "large" can't be read: "#) == true)
      #expect(error?.message.contains("db.sync") == true)
    }
    #expect(try store.document(withID: "small").body["text"] == "")
  }
}
