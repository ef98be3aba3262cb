import CDTCSQLite

/// A function of SQL that answers yes or no, by a closure that can be replaced.
///
/// Without a closure it answers no.
package final class SQLPredicate {
  /// Decides by the arguments as bytes; null has none. They are valid during the call.
  package typealias Decision = ([UnsafeRawBufferPointer]) -> Bool

  package var decision: Decision?

  /// Makes the function known to a connection, which keeps the predicate.
  fileprivate init(_ name: String, arguments: Int32, on connection: Connection) throws(SQLiteError) {
    guard let handle = connection.handle else { throw .closed(name) }
    let code = sqlite3_create_function_v2(
      handle, name, arguments, SQLITE_UTF8, Unmanaged.passRetained(self).toOpaque(),
      { context, count, values in
        guard
          let predicate = sqlite3_user_data(context).map({
            Unmanaged<SQLPredicate>.fromOpaque($0).takeUnretainedValue()
          }), let decision = predicate.decision, let values
        else { return sqlite3_result_int(context, 0) }
        var arguments: [UnsafeRawBufferPointer] = []
        arguments.reserveCapacity(Int(count))
        for position in 0..<Int(count) {
          let bytes = sqlite3_value_blob(values[position])
          let length = Int(sqlite3_value_bytes(values[position]))
          arguments.append(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length))
        }
        sqlite3_result_int(context, decision(arguments) ? 1 : 0)
      }, nil, nil,
      { data in
        if let data { Unmanaged<SQLPredicate>.fromOpaque(data).release() }
      })
    guard code == SQLITE_OK else { throw connection.error(code, sql: name) }
  }
}

extension Connection {
  /// The predicate with a name, which is made once.
  package func predicate(_ name: String, arguments: Int32) throws(SQLiteError) -> SQLPredicate {
    if let known = predicates[name] { return known }
    let made = try SQLPredicate(name, arguments: arguments, on: self)
    predicates[name] = made
    return made
  }
}
