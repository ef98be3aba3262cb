import CDTDigest
package import CDTJSON
import CDTPlatform

// Attachments inside a document's JSON, as CouchDB writes them:
//
//   {"cat.jpg": {"content_type": "image/jpeg", "revpos": 2, "digest": "sha1-…", "data": "/9j/4AAQ…"}}
extension Attachments {
  /// The attachments as CouchDB's `_attachments`, with base64 content. All of it is in memory at once.
  ///
  /// - Throws: The errors of `DocumentAttachment.data()`.
  package func inlineJSON() throws -> JSONObject {
    try inlineJSON { throw $0 }
  }

  /// The same, without those whose content is missing or damaged.
  ///
  /// - Parameter onLoss: Called with the error of each of them.
  package func inlineJSON(onLoss: (DatastoreError) throws -> Void) throws -> JSONObject {
    var json = JSONObject()
    for attachment in self {
      do {
        json[attachment.name] = .object(try attachment.inlineJSON())
      } catch let error as DatastoreError where error.isLostContent {
        try onLoss(error)
      }
    }
    return json
  }

  /// Creates attachments from CouchDB's `_attachments` with inline content.
  ///
  /// - Parameter inline: The value of `_attachments`. A missing `content_type` becomes `application/octet-stream`, and
  ///   `revpos` is ignored. A SHA-1 `digest` must match the data.
  /// - Throws: ``DatastoreError`` with the code `.invalidAttachment`.
  package init(inlineJSON inline: JSONValue) throws(DatastoreError) {
    guard case .object(let entries) = inline else { throw DatastoreError(.inlineAttachmentsNoObject) }
    self.init()
    for (name, entry) in entries { self[name] = try DocumentAttachment(inlineJSON: entry, name: name) }
  }
}

extension DocumentAttachment {
  fileprivate func inlineJSON() throws -> JSONObject {
    let data = try data()
    var json: JSONObject = ["content_type": .string(contentType)]
    if let generation { json["revpos"] = .int(Int64(generation)) }
    json["digest"] = .string(Self.couchDigest(Digest.hash(data, .sha1)))
    json["data"] = .string(data.base64EncodedString())
    return json
  }

  fileprivate init(inlineJSON entry: JSONValue, name: String) throws(DatastoreError) {
    guard !name.isEmpty else { throw DatastoreError(.attachmentWithoutName(nil)) }
    guard case .object(let entry) = entry else {
      throw DatastoreError(.inlineAttachment(name, "must be an object; give it data"))
    }
    guard let text = entry["data"] else {
      throw DatastoreError(
        .inlineAttachment(
          name, "comes without its data; export documents with it, as attachments=true does"))
    }
    guard entry["encoding"] == nil else {
      throw DatastoreError(
        .inlineAttachment(name, "has compressed data; export it without att_encoding_info"))
    }
    guard case .string(let base64) = text, let bytes = Base64.decode(base64) else {
      throw DatastoreError(.inlineAttachment(name, "has data that is not base64; export the document again"))
    }
    let data = Data(bytes)
    let type = entry["content_type"] ?? "application/octet-stream"
    guard case .string(let type) = type else {
      throw DatastoreError(.inlineAttachment(name, "has a content_type that is not a string; use a string"))
    }
    if case .string(let digest)? = entry["digest"], digest.utf8.starts(with: "sha1-".utf8) {
      guard digest.hasSameBytes(as: Self.couchDigest(Digest.hash(data, .sha1))) else {
        throw DatastoreError(
          .inlineAttachment(name, "has data that does not match its digest; export the document again"))
      }
    }
    self.init(data: data, name: name, contentType: type)
  }

  /// The digest in CouchDB's form: `sha1-` and the SHA-1 in base64; `nil` before the content is in the datastore.
  package var couchDigest: String? {
    switch content {
    case .saved(let saved): Self.couchDigest(saved.key)
    case .staged(let staged): Self.couchDigest(staged.key)
    case .data, .file: nil
    }
  }

  private static func couchDigest(_ hash: some Sequence<UInt8>) -> String {
    "sha1-" + Data(hash).base64EncodedString()
  }
}
