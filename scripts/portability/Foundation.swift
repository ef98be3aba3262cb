// The declarations of Foundation that the library uses.
@_exported public import SYSTEM
@_exported public import Dispatch

public typealias TimeInterval = Double

public struct Date: Comparable, Hashable, Sendable, Codable, CustomStringConvertible {
  public static let distantPast = Date()
  public static let distantFuture = Date()
  public static var now: Date { Date() }
  public init() {}
  public init(timeIntervalSince1970: TimeInterval) {}
  public init(timeIntervalSinceReferenceDate: TimeInterval) {}
  public init(timeIntervalSinceNow: TimeInterval) {}
  public var timeIntervalSince1970: TimeInterval { 0 }
  public var timeIntervalSinceReferenceDate: TimeInterval { 0 }
  public var timeIntervalSinceNow: TimeInterval { 0 }
  public func timeIntervalSince(_ other: Date) -> TimeInterval { 0 }
  public func addingTimeInterval(_ interval: TimeInterval) -> Date { self }
  public func formatted(_ style: ISO8601FormatStyle) -> String { "" }
  public static func < (left: Date, right: Date) -> Bool { false }
  public static func + (left: Date, right: TimeInterval) -> Date { left }
  public static func - (left: Date, right: TimeInterval) -> Date { left }
  public var description: String { "" }
}

extension Date {
  public struct ISO8601FormatStyle: Sendable {
    public static let iso8601 = ISO8601FormatStyle()
  }
}

extension Date.ISO8601FormatStyle {
  public init(includingFractionalSeconds: Bool) {}
  public func parse(_ text: String) throws -> Date { Date() }
}

public struct UUID: Hashable, Sendable, Codable, CustomStringConvertible {
  public init() {}
  public init?(uuidString: String) {}
  public var uuidString: String { "" }
  public var description: String { "" }
}

public struct URL: Hashable, Sendable, Codable, CustomStringConvertible {
  public init?(string: String) {}
  public init?(string: String, relativeTo base: URL?) {}
  public var absoluteURL: URL { self }
  public func resolvingSymlinksInPath() -> URL { self }
  public init(fileURLWithPath: String) {}
  public init(filePath: String) {}
  public var path: String { "" }
  public var host: String? { nil }
  public var user: String? { nil }
  public var password: String? { nil }
  public var scheme: String? { nil }
  public var absoluteString: String { "" }
  public var isFileURL: Bool { true }
  public func path(percentEncoded: Bool = true) -> String { "" }
  public func host(percentEncoded: Bool = true) -> String? { nil }
  public var description: String { "" }
}

public struct URLComponents: Hashable, Sendable {
  public init() {}
  public init?(string: String) {}
  public init?(url: URL, resolvingAgainstBaseURL: Bool) {}
  public var scheme, host, user, password, query, fragment, percentEncodedHost, percentEncodedQuery, percentEncodedUser,
    percentEncodedPassword, string: String?
  public var port: Int?
  public var path: String = ""
  public var percentEncodedPath: String = ""
  public var url: URL? { nil }
}

public enum ComparisonResult: Int, Sendable { case orderedAscending = -1, orderedSame, orderedDescending }

public struct Decimal: Hashable, Sendable, Codable, CustomStringConvertible {
  public init?(string: String, locale: Int? = nil) {}
  public var isNaN: Bool { false }
  public var description: String { "" }
}

public protocol ContiguousBytes {
  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
}

public protocol DataProtocol: RandomAccessCollection<UInt8> {}

extension Array: ContiguousBytes, DataProtocol where Element == UInt8 {}
extension ArraySlice: ContiguousBytes, DataProtocol where Element == UInt8 {}
extension UnsafeRawBufferPointer: ContiguousBytes, DataProtocol {
  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(self)
  }
}

public struct Data: Hashable, Sendable, Codable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection,
  DataProtocol, ContiguousBytes
{
  public struct WritingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let atomic = WritingOptions(rawValue: 1)
  }

  private var bytes: [UInt8] = []
  public init() {}
  public init(count: Int) {}
  public init(capacity: Int) {}
  public init(_ bytes: some Sequence<UInt8>) {}
  public init?(base64Encoded: String) {}
  public init?(base64Encoded: Data) {}
  public init(contentsOf: URL) throws {}
  public func write(to: URL, options: WritingOptions = []) throws {}
  public func base64EncodedString() -> String { "" }
  public func base64EncodedData() -> Data { self }
  public var startIndex: Int { 0 }
  public var endIndex: Int { bytes.count }
  public subscript(index: Int) -> UInt8 {
    get { bytes[index] }
    set { bytes[index] = newValue }
  }
  public mutating func replaceSubrange(_ range: Range<Int>, with new: some Collection<UInt8>) {}
  public mutating func append(contentsOf new: some Sequence<UInt8>) {}
  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }
  @discardableResult
  public func copyBytes(to buffer: UnsafeMutableRawBufferPointer, from range: Range<Int>? = nil) -> Int { 0 }
  public func copyBytes(to pointer: UnsafeMutablePointer<UInt8>, count: Int) {}
}

public final class FileManager: Sendable {
  public static let `default` = FileManager()
  public var temporaryDirectory: URL { URL(filePath: "") }
  public var currentDirectoryPath: String { "" }
  public func subpathsOfDirectory(atPath path: String) throws -> [String] { [] }
  public func contentsOfDirectory(atPath path: String) throws -> [String] { [] }
  public func removeItem(atPath path: String) throws {}
  public func fileExists(atPath path: String) -> Bool { false }
}

public final class ProcessInfo: Sendable {
  public static let processInfo = ProcessInfo()
  public var environment: [String: String] { [:] }
  public var systemUptime: TimeInterval { 0 }
}

public struct TimeZone: Hashable, Sendable {
  public static let gmt = TimeZone()
  init() {}
  public init?(secondsFromGMT: Int) {}
  public init?(identifier: String) {}
}

public struct DateComponents: Hashable, Sendable {
  public var weekday, year, month, day, hour, minute, second: Int?
  public init(
    calendar: Calendar? = nil, timeZone: TimeZone? = nil, era: Int? = nil, year: Int? = nil, month: Int? = nil, day: Int? = nil,
    hour: Int? = nil, minute: Int? = nil, second: Int? = nil
  ) {}
}

public struct Calendar: Hashable, Sendable {
  public enum Identifier: Sendable {
    case gregorian, iso8601
  }

  public enum Component: Sendable {
    case weekday, year, month, day, hour, minute, second
  }

  public init(identifier: Identifier) {}
  public var timeZone: TimeZone {
    get { .gmt }
    set {}
  }
  public func dateComponents(_ components: Set<Component>, from date: Date) -> DateComponents { DateComponents() }
  public func date(from components: DateComponents) -> Date? { nil }
  public func date(byAdding component: Component, value: Int, to date: Date) -> Date? { nil }
}

public protocol LocalizedError: Error {
  var errorDescription: String? { get }
}

public protocol CustomNSError: Error {
  static var errorDomain: String { get }
  var errorCode: Int { get }
  var errorUserInfo: [String: Any] { get }
}

extension CustomNSError {
  public static var errorDomain: String { "" }
}

public let NSLocalizedDescriptionKey = "NSLocalizedDescription"

open class NSObject: Hashable {
  public init() {}
  public static func == (left: NSObject, right: NSObject) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) {}
}

open class NSError: NSObject, Error, @unchecked Sendable {
  public init(domain: String, code: Int, userInfo: [String: Any]? = nil) {}
  public var domain: String { "" }
  public var code: Int { 0 }
  public var localizedDescription: String { "" }
}

open class NSNull: NSObject, @unchecked Sendable {}

open class NSNumber: NSObject, @unchecked Sendable {
  public init(value: Bool) {}
  public init(value: Int) {}
  public init(value: Int64) {}
  public init(value: Double) {}
  public var doubleValue: Double { 0 }
  public var floatValue: Float { 0 }
  public var uint64Value: UInt64 { 0 }
  public var int64Value: Int64 { 0 }
  public var boolValue: Bool { false }
  public var objCType: UnsafePointer<CChar> { fatalError() }
}

open class NSDictionary: NSObject, Sequence {
  public init(dictionary: [AnyHashable: Any]) {}
  public convenience override init() { self.init(dictionary: [:]) }
  public func makeIterator() -> AnyIterator<(key: Any, value: Any)> { AnyIterator { nil } }
  public var count: Int { 0 }
  public subscript(key: Any) -> Any? { nil }
}

open class NSMutableDictionary: NSDictionary {
  public override subscript(key: Any) -> Any? {
    get { nil }
    set {}
  }
}

extension Dictionary: @retroactive _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSDictionary { NSDictionary() }
  public static func _forceBridgeFromObjectiveC(_ source: NSDictionary, result: inout Dictionary?) {}
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSDictionary, result: inout Dictionary?) -> Bool { false }
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSDictionary?) -> Dictionary { [:] }
}

open class NSNotification: NSObject {
  public struct Name: Hashable, Sendable {
    public init(_ name: String) {}
  }
}

public struct NSRange: Hashable, Sendable {
  public init(location: Int, length: Int) {}
}

open class NSTextCheckingResult: NSObject {}

open class NSRegularExpression: NSObject, @unchecked Sendable {
  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }

  public struct MatchingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let reportProgress = MatchingOptions(rawValue: 1)
    public static let reportCompletion = MatchingOptions(rawValue: 2)
  }

  public struct MatchingFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let progress = MatchingFlags(rawValue: 1)
    public static let internalError = MatchingFlags(rawValue: 16)
  }

  public init(pattern: String, options: Options = []) throws {}
  public func enumerateMatches(
    in string: String, options: MatchingOptions = [], range: NSRange,
    using block: (NSTextCheckingResult?, MatchingFlags, UnsafeMutablePointer<ObjCBool>) -> Void
  ) {}
}

public struct ObjCBool: ExpressibleByBooleanLiteral {
  public init(booleanLiteral value: Bool) {}
}

extension StringProtocol {
  public func range(of text: some StringProtocol) -> Range<Index>? { nil }
  public func contains(_ text: some StringProtocol) -> Bool { false }
  public func trimmingCharacters(in set: CharacterSet) -> String { "" }
  public func addingPercentEncoding(withAllowedCharacters set: CharacterSet) -> String? { nil }
  public var removingPercentEncoding: String? { nil }
}

public struct CharacterSet: Sendable {
  public static let whitespacesAndNewlines = CharacterSet(charactersIn: "")
  public static let urlPathAllowed = CharacterSet(charactersIn: "")
  public static let urlQueryAllowed = CharacterSet(charactersIn: "")
  public init(charactersIn text: String) {}
}
