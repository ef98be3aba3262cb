import CDTSQLite

/// The message that another program has copied pages of a store's log into its file.
enum CopiedPageMessage {
  /// Lets the message be written when such pages are used.
  static func enable() {
    CopiedPages.setReporter { path, count in
      Message.write(
        "cdtquery: another program, such as sqlite3, has copied \(count) pages of \(path) from the log, without checksums; "
          + "nothing in them is damaged; \"cdtquery check --repair\" writes the checksums")
    }
  }

  /// For a command that tells in its output.
  static func disable() {
    CopiedPages.setReporter { _, _ in }
  }
}
