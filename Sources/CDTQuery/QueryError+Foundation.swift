public import Foundation

// The description and code of each error as an `NSError`, used by `localizedDescription`, logs and alerts.

extension QueryError: LocalizedError, CustomNSError {
  /// The place and the message.
  public var errorDescription: String? { description }

  /// The domain of the error as an `NSError`.
  public static var errorDomain: String { "CDTQuery.QueryError" }

  /// The error's code as a number, stable across versions.
  public var errorCode: Int { code.number }

  /// The message under `NSLocalizedDescriptionKey`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}
