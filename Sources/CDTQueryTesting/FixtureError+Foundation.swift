public import Foundation

// The description and code of each error as an `NSError`, used by `localizedDescription`, logs and alerts.

extension FixtureError: LocalizedError, CustomNSError {
  /// The place and the message.
  public var errorDescription: String? { description }

  /// The domain of the error as an `NSError`.
  public static var errorDomain: String { "CDTQueryTesting.FixtureError" }

  /// The error's code as a number, stable across versions.
  public var errorCode: Int { 1 }

  /// The message under `NSLocalizedDescriptionKey`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}
