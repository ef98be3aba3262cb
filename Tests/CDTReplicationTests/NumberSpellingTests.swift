import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

/// A replication transfers the spelling of numbers.
@Suite struct NumberSpellingTests {
  @Test(arguments: [true, false]) func `both directions keep it`(hasAttachments: Bool) async throws {
    let seed = testSeed(61)
    var random = SpelledNumbers(seed: seed)
    let texts = (0..<20).map { _ in random.body() }
    func fill(_ store: Datastore, _ numbers: Range<Int>) throws {
      for number in numbers {
        var draft = DocumentDraft(id: "doc\(number)", body: try JSONObject(parsing: texts[number]))
        if hasAttachments {
          draft.attachments["a"] = DocumentAttachment(
            data: Data("x".utf8), name: "a", contentType: "text/plain")
        }
        try store.createDocument(from: draft)
      }
    }
    try await withServedStore { served in
      let (local, remote) = (served.local, served.remote)
      try fill(local, 0..<10)
      try fill(remote, 10..<20)
      // A filter reads the body as a value.
      try await served.replicate(.push, filter: .selector(["n": ["$exists": true]]))
      try await served.replicate(.pull)
      for (number, text) in texts.enumerated() {
        let mine = try await local.read { try $0.documentText(withID: "doc\(number)") }
        #expect(String(decoding: mine, as: UTF8.self).hasSuffix(text.dropFirst()), "seed \(seed): \(text)")
        let theirs = try await remote.read { try $0.documentText(withID: "doc\(number)") }
        #expect(theirs == mine, "seed \(seed): \(text)")
      }
    }
  }
}
