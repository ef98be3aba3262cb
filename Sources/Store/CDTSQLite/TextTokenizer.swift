import CDTCSQLite
import Synchronization

/// One of SQLite's full-text tokenizers, which splits text as FTS5 does.
package final class TextTokenizer: Sendable {
  /// A token and its byte range in the text.
  package typealias Token = (text: [UInt8], range: Range<Int>)

  private struct State: @unchecked Sendable {
    // Sendable without a lock: it is inside the Mutex below. The tokenizers have internal buffers.
    let connection: Connection
    let tokenizer: fts5_tokenizer
    let instance: OpaquePointer
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - name: `ascii`, `unicode61`, `porter` or `trigram`.
  ///   - argument: The tokenizer's argument, such as the tokenizer that `porter` builds on.
  package init(_ name: String, _ argument: String? = nil) throws(SQLiteError) {
    let connection = try Connection(path: ":memory:", mode: .readWriteCreate)
    guard let api = try connection.fullTextAPI(), let find = api.pointee.xFindTokenizer else {
      throw connection.error(SQLITE_ERROR, sql: "fts5")
    }
    var context: UnsafeMutableRawPointer?
    var tokenizer = fts5_tokenizer()
    var instance: OpaquePointer?
    var code = find(api, name, &context, &tokenizer)
    if code == SQLITE_OK, let create = tokenizer.xCreate {
      code = (argument ?? "").withCString { text in
        var text: UnsafePointer<CChar>? = text
        return create(context, &text, argument == nil ? 0 : 1, &instance)
      }
    }
    guard code == SQLITE_OK, let instance else { throw connection.error(code, sql: "tokenizer \(name)") }
    state = Mutex(State(connection: connection, tokenizer: tokenizer, instance: instance))
  }

  deinit {
    state.withLock { state in
      state.tokenizer.xDelete?(state.instance)
      state.connection.close()
    }
  }

  /// Splits text into tokens, in order.
  package func tokens(of text: UnsafeRawBufferPointer) -> [Token] {
    guard !text.isEmpty, let base = text.baseAddress, text.count < Int32.max else { return [] }
    let collector = Collector()
    state.withLock { state in
      _ = state.tokenizer.xTokenize?(
        state.instance, Unmanaged.passUnretained(collector).toOpaque(), FTS5_TOKENIZE_DOCUMENT,
        base.assumingMemoryBound(to: CChar.self), Int32(text.count)
      ) { context, _, token, length, start, end in
        guard let context, let token, length >= 0, start >= 0, end >= start else { return SQLITE_OK }
        let collector = Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue()
        let bytes = UnsafeRawBufferPointer(start: token, count: Int(length))
        collector.tokens.append((Array(bytes), Int(start)..<Int(end)))
        return SQLITE_OK
      }
    }
    return collector.tokens
  }

  private final class Collector {
    var tokens: [Token] = []
  }
}

extension Connection {
  /// The functions of FTS5, obtained as a pointer; `nil` if SQLite was built without FTS5.
  fileprivate func fullTextAPI() throws(SQLiteError) -> UnsafeMutablePointer<fts5_api>? {
    var api: UnsafeMutablePointer<fts5_api>?
    var statement: OpaquePointer?
    guard let handle else { throw error(SQLITE_MISUSE, sql: nil) }
    let code = sqlite3_prepare_v2(handle, "SELECT fts5(?1)", -1, &statement, nil)
    guard code == SQLITE_OK else { throw error(code, sql: "SELECT fts5(?1)") }
    defer { sqlite3_finalize(statement) }
    withUnsafeMutablePointer(to: &api) { slot in
      _ = csqlite_bind_fts5_api(statement, 1, slot)
      _ = sqlite3_step(statement)
    }
    return api
  }
}
