import CouchDB
import Testing

@Suite struct ContentDigestTests {
  private func digest(_ kind: ContentDigest.Kind, _ pieces: [String]) -> ContentDigest {
    var digest = ContentDigest(kind)
    for piece in pieces { digest.update(Array(piece.utf8)) }
    return digest
  }

  /// `printf hello | openssl md5 -binary | base64`.
  @Test(arguments: [
    (ContentDigest.Kind.md5, [], "md5-1B2M2Y8AsgTpgAmY7PhCfg=="),
    (.md5, ["hello"], "md5-XUFAKrxLKna5cZ2REBfFkg=="),
    (.md5, ["he", "", "llo"], "md5-XUFAKrxLKna5cZ2REBfFkg=="),
    (.sha1, [], "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="),
    (.sha1, ["hel", "lo"], "sha1-qvTGHdzF6KLavt4PO0gs2a6pQ00="),
  ]) func `digests of content in pieces`(kind: ContentDigest.Kind, pieces: [String], text: String) {
    let digest = digest(kind, pieces)
    #expect(digest.text == text)
    #expect(ContentDigest.Kind(of: text) == kind)
  }

  @Test func `reading the text leaves the digest as it is`() {
    var digest = digest(.md5, ["hel"])
    _ = digest.text
    let copy = digest
    digest.update(Array("lo".utf8))
    #expect(digest.text == "md5-XUFAKrxLKna5cZ2REBfFkg==")
    #expect(copy.text == self.digest(.md5, ["hel"]).text)
  }

  @Test(arguments: ["", "md5", "sha256-x", "Sha1-x", " md5-x"]) func `unknown kinds`(received: String) {
    #expect(ContentDigest.Kind(of: received) == nil)
  }
}
