import CDTJSON

// The errors that more than one endpoint sends. Their words are CouchDB's, as clients look for some of them.
extension CouchError {
  package static let conflict = CouchError(409, "conflict", "Document update conflict.")
  package static let missing = CouchError(404, "not_found", "missing")
  package static let deleted = CouchError(404, "not_found", "deleted")
  package static let noDatabase = CouchError(404, "not_found", "Database does not exist.")
  package static let noAttachment = CouchError(404, "not_found", "Document is missing attachment")
  package static let invalidRevision = CouchError(400, "bad_request", "Invalid rev format")

  package static func tooLarge(_ limit: Int) -> CouchError {
    CouchError(413, "too_large", "the request entity is too large: at most \(limit) bytes")
  }

  package static func badRequest(_ reason: String) -> CouchError {
    CouchError(400, "bad_request", reason)
  }
}

// MARK: - URLs and names

extension CouchError {
  package static func invalidPercentEncoding(_ text: String) -> CouchError {
    badRequest(
      "\(quoted(text)) has a % without two hexadecimal digits after it; write % itself as %25")
  }

  package static func urlNotUTF8(_ text: String) -> CouchError {
    badRequest("\(quoted(text)) is not UTF-8 after percent-decoding; encode the bytes of its UTF-8")
  }

  package static func illegalDatabaseName(_ name: String) -> CouchError {
    CouchError(
      400, "illegal_database_name",
      "Name: '\(shortened(name))'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), +, "
        + "-, and / are allowed. Must begin with a letter.")
  }

  package static func databaseNameTooLong(_ name: String) -> CouchError {
    CouchError(
      400, "database_name_too_long",
      "At least one path segment of `\(shortened(name))` is too long.")
  }

  /// Text of a request for a message, quoted, with control characters escaped and a limited length.
  private static func quoted(_ text: String) -> String {
    JSONValue.string(shortened(text)).text
  }

  private static func shortened(_ text: String) -> String {
    text.unicodeScalars.count > 80 ? String(text.unicodeScalars.prefix(80)) + "…" : text
  }
}

// MARK: - Multipart bodies

extension CouchError {
  package static func notMultipart(_ contentType: String) -> CouchError {
    badRequest(
      "the Content-Type is \(quoted(contentType)); send multipart/related, multipart/mixed or multipart/form-data"
    )
  }

  package static func invalidBoundary(_ contentType: String) -> CouchError {
    badRequest(
      "the Content-Type \(quoted(contentType)) has no valid boundary; give one of 1 to 70 letters, digits and '()+_,-./:=?"
    )
  }

  package static let malformedMultipart = badRequest(
    "the multipart body has other text after a boundary; end the line after it, or write -- after the last one"
  )

  package static let malformedPartHead = badRequest(
    "a part of the multipart body has a malformed header; write lines \"Name: value\" that end with CRLF, then an empty line"
  )

  package static func partHeadTooLarge(limit: Int) -> CouchError {
    badRequest(
      "a part of the multipart body has more than \(limit) bytes of header; end the header with an empty line"
    )
  }

  package static func tooManyParts(limit: Int) -> CouchError {
    CouchError(
      413, "too_large", "the multipart body has more than \(limit) parts; send fewer at once")
  }

  package static let truncatedMultipart = badRequest(
    "the multipart body ends before its last boundary; send it whole, with -- after the last boundary"
  )
}

// MARK: - Documents

extension CouchError {
  package static let documentNotAnObject = badRequest("Document must be a JSON object")
  package static let invalidJSON = badRequest("invalid UTF-8 JSON")
  package static let documentIDNotAString = CouchError(
    400, "illegal_docid", "Document id must be a string")
  package static let revisionsStartNotAnInteger = docValidation(
    "_revisions.start isn't an integer.")
  package static let revisionsNotAnArray = docValidation("_revisions.ids isn't a array.")
  package static let revisionSuffixNotAString = docValidation("RevId isn't a string")
  package static let invalidRevisionList = badRequest("Invalid list of revisions")
  package static let invalidOpenRevisions = badRequest(
    "open_revs must be all or a JSON array of revisions, such as [\"1-a\"]")

  package static func badSpecialMember(_ name: String) -> CouchError {
    docValidation("Bad special document member: \(shortened(name))")
  }

  package static func revisionsOutOfRange(start: Int64, count: Int) -> CouchError {
    docValidation(
      "_revisions has \(count) ids from generation \(start) down; the last must be of generation 1 or higher"
    )
  }

  private static func docValidation(_ reason: String) -> CouchError {
    CouchError(400, "doc_validation", reason)
  }
}

// MARK: - Attachments

extension CouchError {
  package static let attachmentWithoutName = badRequest("Attachment name must not be empty")

  package static func attachmentNameProhibited(_ name: String) -> CouchError {
    badRequest("Attachment name '\(shortened(name))' starts with prohibited character '_'")
  }

  package static func attachmentNotAnObject(_ name: String) -> CouchError {
    badRequest(
      "Attachment \(quoted(name)) must be an object with data, stub or follows")
  }

  package static func invalidAttachmentData(_ name: String) -> CouchError {
    badRequest("Invalid attachment data for \(shortened(name))")
  }

  package static func invalidAttachmentMember(_ member: String, of name: String, _ rule: String)
    -> CouchError
  {
    badRequest("Attachment \(quoted(name)) has a \(member) that is not \(rule)")
  }
}
