import CDTDatastore
import CDTJSON
import CDTQuery
public import Foundation

// Errors as `NSError`: the text that `localizedDescription`, logs and alerts show, and a number. The numbers are stable: add new
// codes at the end of a list.

extension DatastoreError: LocalizedError, CustomNSError {
  private static let numbered: [Code] = [
    .invalidName, .invalidID, .invalidRevision, .invalidBody, .missingBody, .reservedKey,
    .notFound, .conflict, .closed, .nestedWrite, .busy, .full, .corrupt, .newerFormat, .io,
    .invalidImport, .invalidAttachment, .invalidResolution, .oldSQLite, .interrupted, .timedOut,
    .unknownSequence, .protected, .suspended, .userChanged,
  ]

  /// The description.
  public var errorDescription: String? { description }

  /// The number of the error's code; 0 for a code without one.
  public var errorCode: Int { (Self.numbered.firstIndex(of: code) ?? -1) + 1 }

  /// The description.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension QueryError: LocalizedError, CustomNSError {
  private static let numbered: [Code] = [
    .unknownOperator, .invalidArgument, .invalidSelector, .invalidPath, .invalidRegex,
    .invalidRequest, .tooDeep, .tooLarge, .unknownIndex, .invalidIndex, .indexConflict,
    .textSearch, .matchLimit, .closed, .inUse, .timedOut,
  ]

  /// The description.
  public var errorDescription: String? { description }

  /// The number of the error's code; 0 for a code without one.
  public var errorCode: Int { (Self.numbered.firstIndex(of: code) ?? -1) + 1 }

  /// The description.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension JSONError: LocalizedError, CustomNSError {
  private static let numbered: [Code] = [
    .expectedValue, .expectedCharacter, .unexpectedEnd, .trailingText, .invalidNumber,
    .numberOutOfRange, .invalidString, .invalidEscape, .loneSurrogate, .invalidUTF8,
    .duplicateMember, .tooDeep, .notAnObject,
  ]

  /// The description.
  public var errorDescription: String? { description }

  /// The number of the error's code; 0 for a code without one.
  public var errorCode: Int { (Self.numbered.firstIndex(of: code) ?? -1) + 1 }

  /// The description.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension UniqueViolation: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}
