import CSQLite

/// One call of a SQL function: its arguments and its result.
package struct FunctionCall: ~Copyable {
  private let context: OpaquePointer
  private let arguments: UnsafeMutablePointer<OpaquePointer?>?
  private let count: Int

  fileprivate init(
    context: OpaquePointer, arguments: UnsafeMutablePointer<OpaquePointer?>?, count: Int
  ) {
    self.context = context
    self.arguments = arguments
    self.count = count
  }

  private func argument(_ index: Int) -> OpaquePointer? {
    index >= 0 && index < count ? arguments?[index] : nil
  }

  /// An integer argument; 0 when there is none.
  package func int64(at index: Int) -> Int64 {
    argument(index).map(sqlite3_value_int64) ?? 0
  }

  /// Whether an argument is NULL, or there is none.
  package func isNull(at index: Int) -> Bool {
    argument(index).map { sqlite3_value_type($0) == SQLITE_NULL } ?? true
  }

  /// The bytes of a text or blob argument, valid within the call; nothing is copied.
  @inline(__always)
  package func withBytes<R>(at index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard let value = argument(index), let start = sqlite3_value_blob(value) else {
      return body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
  }

  /// The object bound as a pointer of a type, or `nil`; SQL text can't make one.
  package func object(at index: Int, type: StaticString) -> AnyObject? {
    guard let value = argument(index) else { return nil }
    let pointer = type.withUTF8Buffer { name in
      name.withMemoryRebound(to: CChar.self) { sqlite3_value_pointer(value, $0.baseAddress) }
    }
    return pointer.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Calls `body` with the object bound as a pointer of a type; false when there is none. The type must be one under
  /// which only objects of the class are bound.
  @inline(__always)
  package func withObject<T: AnyObject>(
    at index: Int, type: StaticString, as class: T.Type, _ body: (T) -> Void
  ) -> Bool {
    guard let value = argument(index) else { return false }
    let pointer = type.withUTF8Buffer { name in
      name.withMemoryRebound(to: CChar.self) { sqlite3_value_pointer(value, $0.baseAddress) }
    }
    guard let pointer else { return false }
    Unmanaged<T>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
    return true
  }

  package func setResult(_ value: Int64) {
    sqlite3_result_int64(context, value)
  }

  package func setResult(_ value: Double) {
    sqlite3_result_double(context, value)
  }

  package func setResult(text: UnsafeRawBufferPointer) {
    guard let base = text.baseAddress else {
      return sqlite3_result_text64(context, csqlite_empty_text(), 0, csqlite_static(), UInt8(SQLITE_UTF8))
    }
    sqlite3_result_text64(
      context, base.assumingMemoryBound(to: CChar.self), UInt64(text.count), csqlite_transient(),
      UInt8(SQLITE_UTF8))
  }

  package func setResult(blob: UnsafeRawBufferPointer) {
    guard let base = blob.baseAddress else { return sqlite3_result_zeroblob(context, 0) }
    sqlite3_result_blob64(context, base, UInt64(blob.count), csqlite_transient())
  }

  /// Makes the statement fail with a message.
  package func setError(_ message: String) {
    sqlite3_result_error(context, message, -1)
  }
}

extension Connection {
  /// Makes a function callable from SQL on this connection, in statements of its own only, not from a schema.
  package func createFunction(
    _ name: String, argumentCount: Int, deterministic: Bool,
    _ body: @escaping (borrowing FunctionCall) -> Void
  ) throws(SQLiteError) {
    guard let handle else { throw .closed(nil) }
    let flags = SQLITE_UTF8 | SQLITE_DIRECTONLY | (deterministic ? SQLITE_DETERMINISTIC : 0)
    let box = Unmanaged.passRetained(FunctionBox(body))
    // SQLite releases the box by the destructor, also when the registration fails.
    let code = sqlite3_create_function_v2(
      handle, name, Int32(clamping: argumentCount), flags, box.toOpaque(),
      { context, count, arguments in
        guard let context, let data = sqlite3_user_data(context) else { return }
        Unmanaged<FunctionBox>.fromOpaque(data)._withUnsafeGuaranteedRef {
          $0.body(FunctionCall(context: context, arguments: arguments, count: Int(count)))
        }
      }, nil, nil, { data in if let data { Unmanaged<FunctionBox>.fromOpaque(data).release() } })
    guard code == SQLITE_OK else { throw error(code, sql: nil) }
  }
}

private final class FunctionBox {
  let body: (borrowing FunctionCall) -> Void

  init(_ body: @escaping (borrowing FunctionCall) -> Void) {
    self.body = body
  }
}
