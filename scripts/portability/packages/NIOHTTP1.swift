// The declarations of swift-nio that CDTReplication uses.
public enum HTTPMethod: Hashable, Sendable {
  case GET, PUT, POST, DELETE, HEAD
  public var rawValue: String { "" }
}

public enum HTTPResponseStatus: Hashable, Sendable {
  case ok, seeOther
  public var code: UInt { 0 }
}

public struct HTTPHeaders: Sendable, RandomAccessCollection {
  public init() {}
  public init(_ fields: [(String, String)]) {}
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public subscript(index: Int) -> (name: String, value: String) { ("", "") }
  public subscript(name: String) -> [String] { [] }
  public subscript(canonicalForm name: String) -> [Substring] { [] }
  public func first(name: String) -> String? { nil }
  public func contains(name: String) -> Bool { false }
  public mutating func add(name: String, value: String) {}
  public mutating func add(contentsOf fields: [(String, String)]) {}
  public mutating func replaceOrAdd(name: String, value: String) {}
  public mutating func remove(name: String) {}
}
