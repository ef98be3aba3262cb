import CDTCSQLite

extension Connection {
  /// The problems that SQLite finds in the main database; empty if there are none.
  ///
  /// - Throws: ``SQLiteError``, also if a finding means that SQLite was out of memory or that the system failed to
  ///   read a page.
  package func integrityFindings(atMost limit: Int = 100) throws(SQLiteError) -> [String] {
    let statement = try statement("PRAGMA main.integrity_check(\(limit))")
    defer { statement.reset() }
    var findings: [String] = []
    while try statement.step() {
      let finding = statement.text(0)
      if let failure = SQLiteError(findingOfIntegrityCheck: finding) { throw failure }
      if finding != "ok" { findings.append(finding) }
    }
    return findings
  }
}

extension SQLiteError {
  /// The error in a finding that is not damage: `Page 11: unable to get the page. error code=7`, or `unable to
  /// validate the inverted index for FTS5 table main.text_2: out of memory`.
  package init?(findingOfIntegrityCheck finding: String) {
    var code = SQLITE_CORRUPT
    if let label = finding.utf8.firstRange(of: "error code=".utf8) {
      code = Int32(finding[label.upperBound...].prefix { $0.isASCII && $0.isNumber }) ?? code
    } else if finding.hasPrefix("unable to validate the inverted index") {
      code = SQLITE_ERROR
    }
    self.init(extendedCode: code, message: finding, sql: "PRAGMA integrity_check")
    if isCorrupt { return nil }
  }
}
