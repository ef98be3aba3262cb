import CDTJSON
package import CDTPlatform

/// An attachment in the `_attachments` of a document that is sent.
package struct IncomingAttachment: Sendable, Hashable {
  /// The place of the content.
  package enum Source: Sendable, Hashable {
    /// In the document. It is never compressed.
    case inline(Data)
    /// In the database: the revision that the document descends from has it.
    case stub
    /// In a part of the multipart body, compressed or not, with the number of bytes before and after compression.
    case follows(length: Int64?, encodedLength: Int64?, encoding: ContentEncoding)
  }

  package let name: String
  package let contentType: String
  /// The generation that added the attachment.
  package let revpos: Int?
  /// The digest as it was sent, such as `md5-…`: of the bytes as stored, which are compressed if the encoding is gzip.
  package let digest: String?
  package let source: Source

  /// The attachments of a document in the order of their members.
  ///
  /// - Throws: ``CouchError`` with status 400.
  static func list(json: JSONValue) throws(CouchError) -> [IncomingAttachment] {
    guard case .object(let object) = json else { throw .badSpecialMember("_attachments") }
    var attachments: [IncomingAttachment] = []
    attachments.reserveCapacity(object.count)
    for (name, entry) in object { attachments.append(try IncomingAttachment(name: name, json: entry)) }
    return attachments
  }

  /// Throws ``CouchError`` with status 400 if an attachment can't have a name.
  package static func checkName(_ name: String) throws(CouchError) {
    guard let first = name.utf8.first else { throw .attachmentWithoutName }
    guard first != UInt8(ascii: "_") else { throw .attachmentNameProhibited(name) }
  }

  private init(name: String, json: JSONValue) throws(CouchError) {
    try Self.checkName(name)
    guard case .object(let object) = json else { throw .attachmentNotAnObject(name) }
    let entry = Entry(name: name, members: object)
    self.name = name
    contentType = try entry.string("content_type") ?? "application/octet-stream"
    revpos = try entry.count("revpos").map { Int(clamping: $0) }
    digest = try entry.string("digest")
    if try entry.flag("stub") {
      source = .stub
    } else if try entry.flag("follows") {
      source = .follows(
        length: try entry.count("length"), encodedLength: try entry.count("encoded_length"),
        encoding: try entry.encoding())
    } else {
      source = .inline(try entry.data())
    }
  }
}

/// The members of an attachment.
private struct Entry {
  let name: String
  let members: JSONObject

  func string(_ member: String) throws(CouchError) -> String? {
    guard let value = members[member] else { return nil }
    guard case .string(let string) = value else {
      throw .invalidAttachmentMember(member, of: name, "a string")
    }
    return string
  }

  /// A number of bytes, or a generation.
  func count(_ member: String) throws(CouchError) -> Int64? {
    guard let value = members[member] else { return nil }
    guard case .int(let int) = value, int >= 0 else {
      throw .invalidAttachmentMember(member, of: name, "an integer of at least 0")
    }
    return int
  }

  func flag(_ member: String) throws(CouchError) -> Bool {
    guard let value = members[member] else { return false }
    guard case .bool(let flag) = value else {
      throw .invalidAttachmentMember(member, of: name, "true or false")
    }
    return flag
  }

  func encoding() throws(CouchError) -> ContentEncoding {
    guard let text = try string("encoding") else { return .identity }
    guard let encoding = ContentEncoding(rawValue: text) else {
      throw .invalidAttachmentMember("encoding", of: name, "gzip or identity")
    }
    return encoding
  }

  /// The decoded `data`, in which white space is ignored, as in CouchDB.
  func data() throws(CouchError) -> Data {
    guard case .string(let base64)? = members["data"],
      let bytes = Base64.decode(base64, ignoresSpace: true)
    else { throw .invalidAttachmentData(name) }
    return Data(bytes)
  }
}

/// The encoding of an attachment's bytes.
package enum ContentEncoding: String, Sendable, Hashable {
  case identity
  case gzip
}
