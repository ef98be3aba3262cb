/// Behavior when the disk or the quota is full.
///
/// - A write that does not fit is rolled back and throws the code `.full`; a later, smaller one may succeed.
/// - Attachments that do not fit are removed before anything refers to them.
/// - The documents of a write are saved even if the index rows no longer fit. Queries then match the missing documents
///   one by one, and the next write, or opening the datastore, updates the indexes.
/// - Reads continue to work.
extension DatastoreError {
  static func full(_ place: String) -> DatastoreError {
    DatastoreError(.full, "the disk is full: nothing was saved in \(place); free some space and try again")
  }

  static func full(_ action: String, _ path: String) -> DatastoreError {
    DatastoreError(.full, "can't \(action) \(path): the disk is full; free some space")
  }
}
