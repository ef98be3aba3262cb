import CDTCSQLite
import CDTPlatform

/// Ends the statements of a connection early, and its waits for locks.
///
/// It polls locks every half millisecond, to get locks that are free only for a millisecond or two.
final class Interruption {
  /// The number of SQLite virtual machine instructions between two calls of ``mayContinue()``: some hundred rows.
  static let instructions: Int32 = 4_096

  var timeout: Duration
  var shouldContinue: (() -> Bool)?
  /// The suspension that ends statements and waits, once the connection has joined it.
  var suspension: Suspension?
  /// Whether statements are not interrupted.
  var isPaused = false
  /// The time at which all waits end, regardless of the timeout.
  var end: ContinuousClock.Instant?
  private var deadline = ContinuousClock.now
  private var wasSuspended = false

  init(timeout: Duration) {
    self.timeout = timeout
  }

  /// - Returns: Whether to try again.
  func wait(attempts: Int32) -> Bool {
    if attempts == 0 { deadline = end ?? ContinuousClock.now + timeout }
    guard ContinuousClock.now < deadline, mayContinue() else { return false }
    Sleep.microseconds(500)
    return true
  }

  /// Whether a statement, or a wait for a lock, may go on.
  func mayContinue() -> Bool {
    if isPaused { return true }
    if shouldContinue?() == false { return false }
    guard let suspension, suspension.isDue else { return true }
    wasSuspended = true
    return false
  }

  /// The error of a call that has failed with a code if the suspension has ended it.
  func suspension(ending code: Int32) -> SQLiteError? {
    guard wasSuspended else { return nil }
    wasSuspended = false
    guard [SQLITE_INTERRUPT, SQLITE_BUSY, SQLITE_PROTOCOL].contains(code & 0xFF) else { return nil }
    return suspension?.error
  }
}
