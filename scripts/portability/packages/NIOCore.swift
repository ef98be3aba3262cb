// The declarations of swift-nio that CDTReplication uses.
public struct ByteBuffer: Hashable, Sendable {
  public init() {}
  public init(bytes: some Sequence<UInt8>) {}
  public init(string: String) {}
  public var readableBytes: Int { 0 }
  public var readableBytesView: ByteBufferView { ByteBufferView() }
  public mutating func reserveCapacity(_ capacity: Int) {}
  @discardableResult public mutating func writeStaticString(_ text: StaticString) -> Int { 0 }
  @discardableResult public mutating func writeBytes(_ bytes: some Sequence<UInt8>) -> Int { 0 }
  @discardableResult public mutating func writeString(_ text: String) -> Int { 0 }
  @discardableResult public mutating func writeBuffer(_ other: inout ByteBuffer) -> Int { 0 }
  public mutating func readSlice(length: Int) -> ByteBuffer? { nil }
  public func withUnsafeReadableBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(UnsafeRawBufferPointer(start: nil, count: 0))
  }
}

public struct ByteBufferView: RandomAccessCollection, Sendable {
  public init() {}
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public subscript(index: Int) -> UInt8 { 0 }
  public subscript(range: Range<Int>) -> ByteBufferView { self }
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    nil
  }
}

extension ByteBuffer {
  public init(_ view: ByteBufferView) {}
}

public struct TimeAmount: Hashable, Sendable {
  public init(_ duration: Duration) {}
  public static func seconds(_ count: Int64) -> TimeAmount { TimeAmount(.zero) }
  public static func milliseconds(_ count: Int64) -> TimeAmount { TimeAmount(.zero) }
}

public struct NIODeadline: Hashable, Sendable {
  public static let distantFuture = NIODeadline()
}

public enum ChannelError: Error, Equatable {
  case ioOnClosedChannel
}

public struct IOError: Error {
  public let errnoCode: Int32
}

public struct NIOTooManyBytesError: Error {}

extension AsyncSequence where Element == ByteBuffer {
  public func collect(upTo limit: Int) async throws -> ByteBuffer { ByteBuffer() }
}
