import CDTDatastore
import CouchDB
import Testing

/// The statuses, kinds and reasons that clients see.
@Suite struct CouchErrorMessageTests {
  static let messages: [(CouchError, String)] = [
    (.conflict, "409 conflict: Document update conflict."),
    (.invalidRevision, "400 bad_request: Invalid rev format"),
    (
      .invalidPercentEncoding("a%\n"),
      #"400 bad_request: "a%\n" has a % without two hexadecimal digits after it; write % itself as %25"#
    ),
    (
      .urlNotUTF8("%FF"),
      #"400 bad_request: "%FF" is not UTF-8 after percent-decoding; encode the bytes of its UTF-8"#
    ),
    (
      .illegalDatabaseName("_users"),
      "400 illegal_database_name: Name: '_users'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, "
        + "$, (, ), +, -, and / are allowed. Must begin with a letter."
    ),
    (
      .databaseNameTooLong("aaa"),
      "400 database_name_too_long: At least one path segment of `aaa` is too long."
    ),
    (
      .notMultipart("text/plain"),
      #"400 bad_request: the Content-Type is "text/plain"; send multipart/related, multipart/mixed or multipart/form-data"#
    ),
    (
      .invalidBoundary("multipart/mixed"),
      #"400 bad_request: the Content-Type "multipart/mixed" has no valid boundary; give one of 1 to 70 letters, digits and "#
        + "'()+_,-./:=?"
    ),
    (
      .malformedMultipart,
      "400 bad_request: the multipart body has other text after a boundary; end the line after it, or write -- after the last one"
    ),
    (
      .malformedPartHead,
      #"400 bad_request: a part of the multipart body has a malformed header; write lines "Name: value" that end with CRLF, "#
        + "then an empty line"
    ),
    (
      .partHeadTooLarge(limit: 9),
      "400 bad_request: a part of the multipart body has more than 9 bytes of header; end the header with an empty line"
    ),
    (
      .tooManyParts(limit: 9),
      "413 too_large: the multipart body has more than 9 parts; send fewer at once"
    ),
    (
      .truncatedMultipart,
      "400 bad_request: the multipart body ends before its last boundary; send it whole, with -- after the last boundary"
    ),
    (.documentNotAnObject, "400 bad_request: Document must be a JSON object"),
    (.invalidJSON, "400 bad_request: invalid UTF-8 JSON"),
    (.documentIDNotAString, "400 illegal_docid: Document id must be a string"),
    (.revisionsStartNotAnInteger, "400 doc_validation: _revisions.start isn't an integer."),
    (.revisionsNotAnArray, "400 doc_validation: _revisions.ids isn't a array."),
    (.revisionSuffixNotAString, "400 doc_validation: RevId isn't a string"),
    (.invalidRevisionList, "400 bad_request: Invalid list of revisions"),
    (
      .invalidOpenRevisions,
      #"400 bad_request: open_revs must be all or a JSON array of revisions, such as ["1-a"]"#
    ),
    (.badSpecialMember("_x"), "400 doc_validation: Bad special document member: _x"),
    (
      .revisionsOutOfRange(start: 1, count: 2),
      "400 doc_validation: _revisions has 2 ids from generation 1 down; the last must be of generation 1 or higher"
    ),
    (.attachmentWithoutName, "400 bad_request: Attachment name must not be empty"),
    (
      .attachmentNameProhibited("_x"),
      "400 bad_request: Attachment name '_x' starts with prohibited character '_'"
    ),
    (
      .attachmentNotAnObject("a"),
      #"400 bad_request: Attachment "a" must be an object with data, stub or follows"#
    ),
    (.invalidAttachmentData("a"), "400 bad_request: Invalid attachment data for a"),
    (
      .invalidAttachmentMember("digest", of: "a", "a string"),
      #"400 bad_request: Attachment "a" has a digest that is not a string"#
    ),
  ]

  @Test(arguments: messages) func `an error`(error: CouchError, text: String) {
    #expect("\(error.status) \(error)" == text)
  }

  @Test func `long text of a request is shortened`() {
    let name = String(repeating: "x", count: 1_000)
    for error in [
      CouchError.badSpecialMember(name), .notMultipart(name), .invalidPercentEncoding(name),
      .illegalDatabaseName(name), .attachmentNameProhibited(name),
    ] {
      #expect(error.reason.contains("xxx…") && error.reason.count < 300)
    }
  }
}
