import Crypto
import FoundationEssentials
public import JSON

// Attachments within a document's JSON, as CouchDB writes them:
//
//   {"cat.jpg": {"content_type": "image/jpeg", "revpos": 2, "digest": "sha1-…", "data": "/9j/4AAQ…"}}
extension Attachments {
  /// The attachments with their content in base64, as CouchDB's `_attachments`. All of it is in memory at once.
  ///
  /// - Throws: What ``Attachment/data()`` throws.
  ///
  /// Source: `docs/cli.md`, Export.
  public func inlineJSON() throws -> JSONObject {
    var json = JSONObject()
    for attachment in self { json[attachment.name] = .object(try attachment.inlineJSON()) }
    return json
  }

  /// Attachments that were written with their content.
  ///
  /// - Parameter inline: The value of `_attachments`. The media type is `application/octet-stream` where there is none,
  ///   and `revpos` means nothing for a new document. A `digest` of SHA-1 has to be that of the data.
  /// - Throws: ``DatastoreError`` with the code `.invalidAttachment`.
  ///
  /// Source: `docs/cli.md`, Import.
  public init(inlineJSON inline: JSONValue) throws(DatastoreError) {
    guard case .object(let entries) = inline else { throw .inlineAttachmentsNoObject() }
    self.init()
    for (name, entry) in entries { self[name] = try Attachment(inlineJSON: entry, name: name) }
  }
}

extension Attachment {
  fileprivate func inlineJSON() throws -> JSONObject {
    let data = try data()
    var json: JSONObject = ["content_type": .string(type)]
    if let generation { json["revpos"] = .int(Int64(generation)) }
    json["digest"] = .string(Self.digest(of: data))
    json["data"] = .string(data.base64EncodedString())
    return json
  }

  fileprivate init(inlineJSON entry: JSONValue, name: String) throws(DatastoreError) {
    guard !name.isEmpty else { throw .attachmentWithoutName(nil) }
    guard case .object(let entry) = entry else { throw .inlineAttachment(name, "is no object; give it data") }
    guard let text = entry["data"] else {
      throw .inlineAttachment(
        name, "comes without its data; export documents with it, as attachments=true does")
    }
    guard entry["encoding"] == nil else {
      throw .inlineAttachment(name, "has packed data; export it without att_encoding_info")
    }
    guard case .string(let base64) = text, let data = Data(base64Encoded: base64) else {
      throw .inlineAttachment(name, "has data that is not base64; export the document again")
    }
    let type = entry["content_type"] ?? "application/octet-stream"
    guard case .string(let type) = type else {
      throw .inlineAttachment(name, "has a content_type that is no string; make it one")
    }
    if case .string(let digest)? = entry["digest"], digest.utf8.starts(with: "sha1-".utf8) {
      guard digest.hasSameBytes(as: Self.digest(of: data)) else {
        throw .inlineAttachment(name, "has other data than its digest tells; export the document again")
      }
    }
    self.init(data: data, name: name, type: type)
  }

  /// `sha1-` and the SHA-1 in base64.
  private static func digest(of data: Data) -> String {
    "sha1-" + Data(Insecure.SHA1.hash(data: data)).base64EncodedString()
  }
}
