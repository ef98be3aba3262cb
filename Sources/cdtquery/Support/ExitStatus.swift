import CDTDatastore
import CDTPlatform
import CDTQuery
import CDTQueryTesting
import JSON

/// What a run ends with: sysexits' numbers, so that scripts can tell kinds of failure apart.
enum ExitStatus: Int32, Error {
  case done = 0
  case findings = 1
  case usage = 64
  case data = 65
  case missing = 66
  case busy = 69
  case fault = 70
  case cantCreate = 73
  case io = 74

  /// The status for an error of ours; `nil` for anyone else's.
  init?(_ error: any Error) {
    switch error {
    case let error as DatastoreError: self.init(datastore: error.code)
    case let error as QueryError: self = [.closed, .inUse].contains(error.code) ? .fault : .data
    case let error as TouchDBError: self = error.code == .unreadable ? .io : .data
    case is ImportError, is JSONError, is FixtureError: self = .data
    case is Output.Failure: self = .io
    case let error as ToolError: self = error.status
    default: return nil
    }
  }

  private init(datastore code: DatastoreError.Code) {
    switch code {
    case .notFound: self = .missing
    case .busy: self = .busy
    case .invalidName: self = .usage
    case .full, .io, .corrupt, .newerFormat, .oldSQLite, .interrupted: self = .io
    case .closed, .nestedWrite: self = .fault
    default: self = .data
    }
  }
}

/// Something that only the command line can refuse.
struct ToolError: Error, CustomStringConvertible {
  let status: ExitStatus
  let description: String

  init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }

  static func unreadable(_ name: String, _ reason: SystemError) -> ToolError {
    ToolError(.io, "can't read \(name): \(reason); check the path")
  }
}
