import CDTGzip
import CouchDB
import Testing

@Suite struct CouchErrorTests {
  @Test func `an error is an object with the kind and the reason`() {
    #expect(CouchError.missing.json.text == #"{"error":"not_found","reason":"missing"}"#)
  }

  @Test func `errors of gzip streams name the remedy`() {
    #expect(
      CouchError(GzipError.corrupt)
        == .badRequest(
          "the data is not a valid gzip stream; compress it again, or send it without Content-Encoding"))
    #expect(CouchError(GzipError.truncated) == .badRequest("the gzip stream is truncated; send it whole"))
    #expect(
      CouchError(GzipError.tooLarge(limit: 9))
        == CouchError(413, "too_large", "the content of the gzip stream has more than 9 bytes; send less"))
    #expect(CouchError(GzipError.outOfMemory).status == 503)
  }
}
