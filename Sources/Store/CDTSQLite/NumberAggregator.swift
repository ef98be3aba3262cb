import CDTCSQLite

/// Computes an aggregate function of numbers, whose result in SQL is the number of a state.
package protocol NumberAggregator: AnyObject {
  /// Makes a state for a group.
  func makeState() -> Int64
  /// Adds values to a group: integers, or the bits of those that are doubles.
  func add(_ values: UnsafeBufferPointer<Int64>, doubles: UInt64, to state: Int64)
}

/// Keeps an aggregator for the life of its function.
private final class AggregatorBox {
  let aggregator: any NumberAggregator

  init(_ aggregator: any NumberAggregator) {
    self.aggregator = aggregator
  }
}

/// The memory that SQLite keeps for a group, at first zeros: values are gathered, as each call of the aggregator has its cost.
private struct AggregatedValues {
  private static let most = 32
  /// The number of bytes: the state's number and one, the number of values, which of them are doubles, the values.
  static let size = Int32(MemoryLayout<Int64>.size * (3 + most))

  private let memory: UnsafeMutablePointer<Int64>

  init(_ memory: UnsafeMutableRawPointer) {
    self.memory = memory.assumingMemoryBound(to: Int64.self)
  }

  /// - Returns: Whether there is no room for another value.
  func append(_ value: OpaquePointer, isDouble: Bool) -> Bool {
    let count = Int(memory[1])
    if isDouble {
      memory[3 + count] = Int64(bitPattern: sqlite3_value_double(value).bitPattern)
      memory[2] |= 1 << Int64(count)
    } else {
      memory[3 + count] = sqlite3_value_int64(value)
    }
    memory[1] += 1
    return count + 1 == Self.most
  }

  func flush(to context: OpaquePointer) {
    guard memory[1] > 0, let data = sqlite3_user_data(context) else { return }
    let aggregator = Unmanaged<AggregatorBox>.fromOpaque(data).takeUnretainedValue().aggregator
    if memory[0] == 0 { memory[0] = aggregator.makeState() + 1 }
    aggregator.add(
      UnsafeBufferPointer(start: memory + 3, count: Int(memory[1])), doubles: UInt64(bitPattern: memory[2]),
      to: memory[0] - 1)
    (memory[1], memory[2]) = (0, 0)
  }

  /// The state's number, or -1 if there was no number.
  var state: Int64 { memory[0] - 1 }
}

extension Connection {
  /// Defines an aggregate function with one argument. Values that are not numbers are ignored; without numbers its result is -1.
  package func define(_ name: String, _ aggregator: any NumberAggregator) throws(SQLiteError) {
    guard let handle else { throw .closed(name) }
    let code = sqlite3_create_function_v2(
      handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
      Unmanaged.passRetained(AggregatorBox(aggregator)).toOpaque(), nil,
      { context, _, values in
        guard let context, let value = values?.pointee else { return }
        let type = sqlite3_value_type(value)
        guard type == SQLITE_INTEGER || type == SQLITE_FLOAT,
          let memory = sqlite3_aggregate_context(context, AggregatedValues.size)
        else { return }
        let gathered = AggregatedValues(memory)
        if gathered.append(value, isDouble: type == SQLITE_FLOAT) { gathered.flush(to: context) }
      },
      { context in
        guard let context else { return }
        guard let memory = sqlite3_aggregate_context(context, 0) else {
          return sqlite3_result_int64(context, -1)
        }
        let gathered = AggregatedValues(memory)
        gathered.flush(to: context)
        sqlite3_result_int64(context, gathered.state)
      },
      { data in data.map { Unmanaged<AggregatorBox>.fromOpaque($0).release() } })
    guard code == SQLITE_OK else { throw SQLiteError(code, of: handle, sql: name) }
  }
}
