import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery
import CDTQueryTesting

/// Ends the process if a property does not hold.
func expect(_ holds: Bool, _ property: @autoclosure () -> String) {
  if !holds { fatalError(property()) }
}

func expectEqual<Value: Equatable>(_ found: Value, _ wanted: Value, _ property: @autoclosure () -> String) {
  if found != wanted { fatalError("\(property()): \(found), not \(wanted)") }
}

/// Every error that leaves the library is one of its own and has a message.
func expectTyped(_ error: any Error) {
  switch error {
  case let error as JSONError:
    expect(!error.message.isEmpty && error.line > 0 && error.column > 0, "\(error)")
  case let error as ImportError: expect(!error.message.isEmpty && error.line > 0, "\(error)")
  case let error as FixtureError: expect(!error.message.isEmpty && error.line > 0, "\(error)")
  case let error as QueryError: expect(!error.message.isEmpty, "\(error)")
  case let error as DatastoreError: expect(!error.message.isEmpty, "\(error)")
  case let error as TouchDBError: expect(!error.message.isEmpty, "\(error)")
  default: fatalError("an error of another type: \(type(of: error)) \(error)")
  }
}

/// The result of `body`, or `nil` if it throws an error of the library.
func resultOrError<Value>(_ body: () throws -> Value) -> Value? {
  do {
    return try body()
  } catch {
    expectTyped(error)
    return nil
  }
}

/// The parts of an input before and after its first line feed.
func firstLine(_ input: [UInt8]) -> (line: [UInt8], rest: [UInt8]) {
  let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
  return (Array(input[..<end]), Array(input[end...].dropFirst()))
}
