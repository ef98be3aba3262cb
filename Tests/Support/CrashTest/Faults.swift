import Glibc

/// The functions of the library `CDTFaults`, if the process was started with it. See its header.
enum Faults {
  /// The kind of call that can fail.
  enum Kind: String, CaseIterable {
    case open, read, write, sync, lock, shm, truncate, delete, rename, mkdir, close, stat, list, malloc
  }

  struct Missing: Error {}

  private typealias Arm = @convention(c) (UnsafePointer<CChar>, Int, Int32, Int32) -> Int32
  private typealias Calls = @convention(c) (UnsafePointer<CChar>) -> Int
  private typealias Disarm = @convention(c) () -> Int
  private typealias Mark = @convention(c) (Int) -> Void
  private typealias Install = @convention(c) () -> Int32

  private static let arming = function("faults_arm", Arm.self)
  private static let calling = function("faults_calls", Calls.self)
  private static let disarming = function("faults_disarm", Disarm.self)
  private static let marking = function("faults_mark", Mark.self)

  private static func function<F>(_ name: String, _ type: F.Type) -> F? {
    dlsym(nil, name).map { unsafeBitCast($0, to: type) }
  }

  /// Makes the n-th call of a kind from now on fail.
  static func arm(_ kind: Kind, call: Int, error: Int32, isLasting: Bool) throws {
    guard let arming, arming(kind.rawValue, call, error, isLasting ? 1 : 0) != 0 else { throw Missing() }
  }

  /// Lets calls succeed again.
  ///
  /// - Returns: The number of calls that failed.
  @discardableResult
  static func disarm() -> Int { disarming?() ?? 0 }

  /// The number of calls of a kind since the last ``arm(_:call:error:isLasting:)``.
  static func calls(_ kind: Kind) -> Int { calling?(kind.rawValue) ?? 0 }

  static func mark(_ number: Int) { marking?(number) }

  /// The path of a file that was opened while SQLite had it open, by other code than SQLite.
  static var besideSQLite: String? {
    typealias Beside = @convention(c) (UnsafeMutablePointer<CChar>) -> Int
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard let count = function("faults_beside", Beside.self)?(&path), count > 0 else { return nil }
    return path.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
  }

  /// Must be called before SQLite is used.
  static func installMalloc() throws {
    guard function("faults_install_malloc", Install.self)?() == 0 else { throw Missing() }
  }
}
