import CDTDigest
import CDTJSON
import CDTPlatform
import CDTSQLite

/// Saves a revision's attachments in the directory, inside the transaction that refers to them.
struct AttachmentSaving {
  let files: AttachmentFiles

  /// Throws if an attachment can't be saved, before anything is written.
  static func check(_ attachments: Attachments, of id: String?) throws(DatastoreError) {
    for (key, attachment) in attachments.sorted() {
      guard !key.isEmpty else { throw DatastoreError(.attachmentWithoutName(id)) }
      guard key.hasSameBytes(as: attachment.name) else {
        throw DatastoreError(.attachmentUnderOtherName(key, attachment.name, of: id))
      }
    }
  }

  /// Copies large contents before the transaction begins.
  func staged(_ attachments: Attachments) throws -> Attachments {
    var result = attachments
    for attachment in attachments where takesLong(attachment) {
      result[attachment.name] = attachment.with(try files.stage(attachment))
    }
    return result
  }

  private func takesLong(_ attachment: DocumentAttachment) -> Bool {
    switch attachment.content {
    case .file: true
    case .saved(let saved): !saved.files.isSameDirectory(as: files)
    case .data, .staged: false
    }
  }

  /// Saves the content of each attachment.
  ///
  /// - Parameters:
  ///   - known: The attachments of the revision's parent: an unchanged one keeps its generation.
  ///   - generation: The generation of the revision.
  /// - Returns: The rows to write, sorted by name, and whether the directory has names that may not be synced yet.
  func rows(
    for attachments: Attachments, known: [AttachmentRow], generation: Int
  ) throws -> (rows: [AttachmentRow], haveNewNames: Bool) {
    let saved = try attachments.map { try row(for: $0, known: known, generation: generation) }
    return (saved.map(\.row), saved.contains(where: \.isNew))
  }

  private func row(
    for attachment: DocumentAttachment, known: [AttachmentRow], generation: Int
  ) throws -> (row: AttachmentRow, isNew: Bool) {
    let (key, length, isNew) = try save(attachment)
    let stays = known.first { row in
      row.name.hasSameBytes(as: attachment.name) && row.key == key
        && row.type.hasSameBytes(as: attachment.contentType)
    }
    let row = AttachmentRow(
      name: attachment.name, key: key, type: attachment.contentType, length: length,
      generation: attachment.declaredGeneration ?? stays?.generation ?? generation)
    return (row, isNew)
  }

  /// - Returns: The key of the content, and whether its name may not be synced yet.
  private func save(_ attachment: DocumentAttachment) throws -> (key: [UInt8], length: Int64, isNew: Bool) {
    switch attachment.content {
    case .saved(let saved) where saved.files.isSameDirectory(as: files):
      let path = files.path(of: saved.key)
      guard let length = try files.length(of: saved.key) else {
        throw DatastoreError(.missingAttachment(attachment.name, path))
      }
      guard length == saved.length else { throw DatastoreError(.damagedAttachment(attachment.name, path)) }
      return (saved.key, saved.length, false)
    case .data(let data):
      let key = Digest.hash(data, .sha1)
      // The content is in memory, so a damaged file can be replaced.
      if files.isSound(key, length: Int64(data.count)) { return (key, Int64(data.count), true) }
    case .staged(let staged) where staged.path.utf8.starts(with: "\(files.directory)/".utf8):
      try files.publish(staged)
      return (staged.key, staged.length, true)
    case .saved, .file, .staged: break
    }
    let staged = try files.stage(attachment)
    try files.publish(staged)
    return (staged.key, staged.length, true)
  }
}
