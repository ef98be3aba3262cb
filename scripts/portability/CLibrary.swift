// What Swift adds to the headers of a system's C library: SYSTEM is the module of its headers.
@_exported public import SYSTEM

#if canImport(ObjectiveC) || os(macOS) || os(iOS)
  public var errno: Int32 {
    get { __error().pointee }
    set { __error().pointee = newValue }
  }
#else
  public var errno: Int32 {
    get { __errno_location().pointee }
    set { __errno_location().pointee = newValue }
  }
#endif

// Functions with a variable number of arguments.
public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { 0 }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { 0 }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ argument: UnsafeMutableRawPointer) -> Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { 0 }
