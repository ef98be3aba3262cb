import CDTPlatform
import CDTSQLite

/// Tells a database file that is new from one whose content was lost: the store has other files then.
enum MissingContentCheck {
  /// - Parameters:
  ///   - path: The path of a database file that is missing or has no tables.
  ///   - includesLog: Whether the write-ahead log counts.
  /// - Throws: ``DatastoreError`` with the code `.corrupt` if other files show that there was a store.
  static func check(_ path: String, includingLog includesLog: Bool) throws(DatastoreError) {
    let directory = String(path.dropLast(DatabaseFile.name.count + 1))
    let log = LogFile.path(of: path)
    if includesLog, let status = try? FileStatus(log), status.size > 0 {
      throw DatastoreError(.lostContent(path, evidence: log))
    }
    // A user may have put other files there.
    let attachments = StoreFiles.attachments(in: directory)
    if (try? Files.names(in: attachments))?.contains(where: { AttachmentFiles.key(named: $0) != nil }) == true
    {
      throw DatastoreError(.lostContent(path, evidence: attachments))
    }
    let extensions = StoreFiles.extensions(in: directory)
    if hasFiles(extensions) { throw DatastoreError(.lostContent(path, evidence: extensions)) }
  }

  private static func hasFiles(_ directory: String) -> Bool {
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
    return paths.contains { (try? FileStatus("\(directory)/\($0)", followsLinks: false))?.kind == .file }
  }
}
