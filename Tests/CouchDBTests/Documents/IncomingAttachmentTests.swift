import CDTDatastore
import CouchDB
import Foundation
import Testing

@Suite struct IncomingAttachmentTests {
  private func attachments(_ json: String) throws -> [IncomingAttachment] {
    try Array(#"{"_attachments":\#(json)}"#.utf8).withUnsafeBytes { try DocumentInput($0) }.attachments
  }

  private func attachment(_ json: String) throws -> IncomingAttachment {
    try #require(try attachments(#"{"a":\#(json)}"#).first)
  }

  @Test func `attachments come in the order of their members`() throws {
    let entries = (0..<40).reversed().map { #""n\#($0)":{"stub":true}"# }.joined(separator: ",")
    let names = try attachments("{\(entries)}").map(\.name)
    #expect(names == (0..<40).reversed().map { "n\($0)" })
    #expect(try attachments("{}").isEmpty)
  }

  @Test func `inline data`() throws {
    let attachment = try attachment(
      #"{"content_type":"text/plain","revpos":3,"digest":"md5-x","data":"aGkK"}"#)
    #expect(attachment.source == .inline(Data("hi\n".utf8)))
    #expect(attachment.contentType == "text/plain" && attachment.revpos == 3 && attachment.digest == "md5-x")
    #expect(try self.attachment(#"{"data":""}"#).source == .inline(Data()))
  }

  @Test func `the defaults`() throws {
    let attachment = try attachment(#"{"stub":true}"#)
    #expect(attachment.contentType == "application/octet-stream")
    #expect(attachment.revpos == nil && attachment.digest == nil && attachment.source == .stub)
  }

  /// As CouchDB sends it with `att_encoding_info=true`: in JSON the data is not compressed.
  @Test func `inline data is plain whatever the encoding says`() throws {
    let json = #"{"data":"aGkK","encoding":"gzip","encoded_length":25,"length":3}"#
    #expect(try attachment(json).source == .inline(Data("hi\n".utf8)))
  }

  @Test func `white space in inline data is ignored`() throws {
    #expect(try attachment(#"{"data":"aG\r\nkK \t\n"}"#).source == .inline(Data("hi\n".utf8)))
  }

  @Test func `content that follows`() throws {
    let gzip = #"{"follows":true,"length":5,"encoded_length":25,"encoding":"gzip","revpos":0}"#
    #expect(try attachment(gzip).source == .follows(length: 5, encodedLength: 25, encoding: .gzip))
    #expect(try attachment(gzip).revpos == 0)
    #expect(
      try attachment(#"{"follows":true,"encoding":"identity"}"#).source
        == .follows(length: nil, encodedLength: nil, encoding: .identity))
    #expect(
      try attachment(#"{"follows":true,"length":9223372036854775807}"#).source
        == .follows(length: .max, encodedLength: nil, encoding: .identity))
  }

  @Test func `a stub comes before follows, and follows before data`() throws {
    #expect(try attachment(#"{"data":"aGkK","follows":true,"stub":true}"#).source == .stub)
    #expect(
      try attachment(#"{"data":"aGkK","stub":false,"follows":true}"#).source
        == .follows(length: nil, encodedLength: nil, encoding: .identity))
    #expect(
      try attachment(#"{"data":"aGkK","stub":false,"follows":false}"#).source == .inline(Data("hi\n".utf8)))
  }

  @Test(arguments: ["a/b c", "..", "/etc/passwd", "é", "\\u0000", " _x", "a_"]) func `a name`(name: String)
    throws
  {
    #expect(try attachments(#"{"\#(name)":{"stub":true}}"#).count == 1)
  }

  static let refusals =
    [
      Refusal(#"{"":{"stub":true}}"#, .attachmentWithoutName),
      Refusal(#"{"_x":{"stub":true}}"#, .attachmentNameProhibited("_x")),
      Refusal(#"{"a":[]}"#, .attachmentNotAnObject("a")),
      Refusal(#"{"a":null}"#, .attachmentNotAnObject("a")),
      .member(#"{"stub":1}"#, "stub", "true or false"),
      .member(#"{"follows":"true"}"#, "follows", "true or false"),
      .member(#"{"stub":true,"content_type":1}"#, "content_type", "a string"),
      .member(#"{"stub":true,"content_type":null}"#, "content_type", "a string"),
      .member(#"{"stub":true,"digest":1}"#, "digest", "a string"),
      .member(#"{"stub":true,"revpos":"1"}"#, "revpos", "an integer of at least 0"),
      .member(#"{"stub":true,"revpos":-1}"#, "revpos", "an integer of at least 0"),
      .member(#"{"stub":true,"revpos":9223372036854775808}"#, "revpos", "an integer of at least 0"),
      .member(#"{"follows":true,"length":-1}"#, "length", "an integer of at least 0"),
      .member(#"{"follows":true,"length":1.5}"#, "length", "an integer of at least 0"),
      .member(#"{"follows":true,"length":"5"}"#, "length", "an integer of at least 0"),
      .member(#"{"follows":true,"encoded_length":-5}"#, "encoded_length", "an integer of at least 0"),
      .member(#"{"follows":true,"encoding":"br"}"#, "encoding", "gzip or identity"),
      .member(#"{"follows":true,"encoding":1}"#, "encoding", "a string"),
    ]
    + [
      "{}", #"{"data":1}"#, #"{"data":null}"#, #"{"data":"a"}"#, #"{"data":"aGkK!"}"#, #"{"data":"aG=kK"}"#,
      #"{"data":"aGk"}"#,
    ]
    .map { Refusal(#"{"a":\#($0)}"#, .invalidAttachmentData("a")) }

  @Test(arguments: refusals) func `an invalid attachment`(refusal: Refusal) {
    #expect(throws: refusal.error) { try attachments(refusal.testDescription) }
  }
}
