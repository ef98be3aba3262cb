/// The rules for documents that exist, have changed or are invalid, wherever they are written.
extension ImportReader {
  /// Leaves out a document that replaces another revision than the current one.
  ///
  /// - Parameters:
  ///   - current: The current revision.
  ///   - isDeleted: Whether it is a tombstone.
  /// - Returns: Whether it is left out.
  package mutating func isStale(_ row: Int, current: String, isDeleted: Bool) -> Bool {
    guard let wanted = batch.revision(at: row), isDeleted || !current.hasSameBytes(as: "\(wanted)") else {
      return false
    }
    report.stale += 1
    problems.append(batch.stale(at: row, current: current, isDeleted: isDeleted))
    return true
  }

  /// Decides about a document whose id exists.
  ///
  /// - Returns: Whether it replaces the existing one; otherwise it is left out.
  /// - Throws: ``ImportError`` if the import ends.
  package mutating func replaces(_ row: Int) throws -> Bool {
    switch onConflict {
    case .replace: return true
    case .skip: report.skipped += 1
    case .fail: try refuse(batch.conflict(at: row))
    }
    return false
  }

  /// Leaves out a document that is invalid, or can't be saved.
  ///
  /// - Throws: The error, if the import ends at the first one.
  package mutating func refuse(_ problem: ImportError) throws {
    guard continuesOnError else { throw problem }
    report.failed += 1
    problems.append(problem)
  }

  /// Reports the documents that were left out. Call it also after an error.
  package mutating func reportProblems() {
    guard !isAhead else { return }
    for problem in problems { onInvalidDocument?(problem) }
    problems = []
  }
}
