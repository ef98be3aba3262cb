public import CDTDatastore
import CDTJSON
import CDTPlatform
import CouchDB

extension Backup {
  /// Reads all files and contents, and compares them with their digests.
  ///
  /// - Parameter progress: Called with the number of documents read, and their total.
  /// - Returns: Findings about damaged and missing parts, also attachments that could not be saved; empty if every state can be
  ///   restored whole.
  /// - Throws: `DatastoreError`: `.notFound` if there is no backup; `.wrongKey` as `increments()`; `.io`.
  /// - Complexity: O(*bytes*).
  public func verify(
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> [IntegrityFinding] {
    let backup = try BackupFiles(self)
    let contents = backup.attachments
    var findings: [IntegrityFinding] = []
    var verified = Set<[UInt8]>()
    let (files, damage) = try backup.files()
    if files.isEmpty, damage == nil { throw DatastoreError.noBackup(directory, oldest: nil) }
    let total = files.reduce(0) { $0 + ((try? BackupEnd(of: $1))?.documents ?? 0) }
    var done = 0
    for (position, file) in files.enumerated() {
      do {
        var reader = try IncrementReader(file)
        while let line = try reader.next() {
          if case .loss(let loss) = line { findings.append(loss) }
          guard case .document(let id, let input) = line else { continue }
          for attachment in try backup.contents(of: input, in: contents, file) {
            guard let digest = attachment.digest, verified.insert(Array(digest.utf8)).inserted else {
              continue
            }
            do {
              try attachment.forEachChunk { _ in }
            } catch let error as DatastoreError {
              findings.append(IntegrityFinding(.attachment, documentID: id, error.message))
            }
          }
          let read = done + reader.documents
          progress(read, max(total, read))
        }
        let next = position + 1 < files.count ? files[position + 1] : nil
        try reader.check(expecting: next?.header.previousDigest)
        done += reader.documents
      } catch let error as DatastoreError where error.code == .corrupt {
        findings.append(IntegrityFinding(.database, error.message))
      }
    }
    if let damage { findings.append(IntegrityFinding(.database, damage.message)) }
    return findings
  }
}
