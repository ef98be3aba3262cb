import CDTDatastore
import CDTImport
import CDTJSON
import CDTPlatform
import CDTQuery
import CDTSQLite

/// The exit status of a run, with the codes of sysexits, so that scripts can distinguish kinds of failure.
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
  case notAuthorized = 77

  /// The status of an error of the store's modules; `nil` for others.
  init?(_ error: any Error) {
    switch error {
    case let error as any ReportedError: self = error.exitStatus
    case let error as DatastoreError: self.init(datastore: error.code)
    case let error as QueryError: self = [.closed, .inUse].contains(error.code) ? .fault : .data
    case let error as TouchDBError: self = error.code == .unreadable ? .io : .data
    case is ImportError, is JSONError, is UniqueViolation: self = .data
    case is RuleViolation: self = .notAuthorized
    case let error as SQLiteError: self.init(datastore: DatastoreError(error).code)
    case is SystemError, is CocoaError, is POSIXError: self = .io
    default: return nil
    }
  }

  private init(datastore code: DatastoreError.Code) {
    switch code {
    // A store is closed early only if it was deleted or replaced while the command ran.
    case .notFound, .closed: self = .missing
    case .busy: self = .busy
    case .invalidName: self = .usage
    case .full, .io, .corrupt, .newerFormat, .oldSQLite, .interrupted: self = .io
    case .nestedWrite: self = .fault
    case .wrongKey: self = .notAuthorized
    default: self = .data
    }
  }
}

/// An error of another module, or of a program itself, that has an exit status.
protocol ReportedError: Error {
  var exitStatus: ExitStatus { get }
}

/// The messages of errors on standard error.
enum ErrorText {
  /// Errors of SQLite and of the system have the message of a store's error.
  static func of(_ error: any Error) -> String {
    switch error {
    case let error as QueryError where error.lacksTextIndex:
      "\(error): cdtquery index create STORE FIELD… --type text"
    case let error as SQLiteError: "\(DatastoreError(error))"
    case let error as SystemError: "the system reported an error: \(error); try again"
    case let error as CocoaError: systemText(error.underlying as? POSIXError)
    case let error as POSIXError: systemText(error)
    default: "\(error)"
    }
  }

  private static func systemText(_ error: POSIXError?) -> String {
    of(SystemError((error?.code ?? .EIO).rawValue))
  }
}
