/// What happens when the disk, or the quota, is full.
///
/// - A write that does not fit is rolled back as a whole and throws the code `.full`; the next one may fit.
/// - Attachments that do not fit are removed again before anything refers to them.
/// - The documents of a write are saved even if the rows of the indexes no longer fit. The indexes are then behind: queries
///   match the documents that they lack one by one, and the next write, or opening the datastore, brings them up to date.
/// - Reading goes on.
extension DatastoreError {
  static func full(_ place: String) -> DatastoreError {
    DatastoreError(.full, "the disk is full: nothing was saved in \(place); free some space and try again")
  }

  static func full(_ action: String, _ path: String) -> DatastoreError {
    DatastoreError(.full, "can't \(action) \(path): the disk is full; free some space")
  }
}
