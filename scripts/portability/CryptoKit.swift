// The declarations of CryptoKit that CDTDigest uses.
public import Foundation

public protocol Digest: Sequence<UInt8>, Sendable {
  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
}

public protocol HashFunction: Sendable {
  associatedtype Digest: CryptoKit.Digest
  init()
  mutating func update(bufferPointer: UnsafeRawBufferPointer)
  func finalize() -> Digest
}

public struct SHA256Digest: Digest {
  public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(UnsafeRawBufferPointer(start: nil, count: 0))
  }
}

public struct SHA256: HashFunction {
  public init() {}
  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
  public func finalize() -> SHA256Digest { SHA256Digest() }
}

public enum Insecure {
  public struct MD5: HashFunction {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
  }

  public struct SHA1: HashFunction {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
  }
}

public struct SymmetricKey: Sendable {
  public init(data: some ContiguousBytes) {}
}

public struct HMAC<H: HashFunction> {
  public static func authenticationCode(for data: some DataProtocol, using key: SymmetricKey) -> H.Digest {
    H().finalize()
  }
}

public enum AES {
  public enum GCM {
    public struct Nonce: Sendable, Sequence {
      public init(data: some DataProtocol) throws {}
      public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
    }

    public struct SealedBox: Sendable {
      public let nonce: Nonce
      public let ciphertext: Data
      public let tag: Data
      public init(nonce: Nonce, ciphertext: some DataProtocol, tag: some DataProtocol) throws { fatalError() }
    }

    public static func seal(
      _ message: some DataProtocol, using key: SymmetricKey, nonce: Nonce? = nil, authenticating data: some DataProtocol
    ) throws -> SealedBox {
      fatalError()
    }

    public static func open(
      _ box: SealedBox, using key: SymmetricKey, authenticating data: some DataProtocol
    ) throws -> Data {
      fatalError()
    }
  }
}
