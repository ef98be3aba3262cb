import CPCRE2
import Synchronization

/// A pattern of `$regex`, compiled once by PCRE2 and used from any thread.
///
/// Patterns and subjects are UTF-8, a match may lie anywhere in the subject, and `\d`, `\w` and `\s` are ASCII. The
/// just-in-time compiler is used where it can be. A match that needs more than ``matchLimit`` steps or
/// ``heapLimitKiB`` of memory is given up with an error: it has no answer.
package final class RegularExpression: @unchecked Sendable {
  // Sendable without a lock: `code` is not changed after it was compiled, which PCRE2 allows threads to share, and
  // everything that a match changes is in a Scratch, handed out under the Mutex.

  package let pattern: String
  /// Letters of `imsx`, each once, in this order.
  package let options: String

  private let code: OpaquePointer
  private let hasJIT: Bool
  private let idle = Mutex<[Scratch]>([])

  /// How many steps one match may take.
  package static let matchLimit: UInt32 = 1_000_000
  /// How much memory one match may take, in KiB.
  package static let heapLimitKiB: UInt32 = 20_000

  /// A pattern that PCRE2 refuses.
  package struct Refusal: Error, Hashable {
    package let message: String
    /// Where in the pattern, in bytes.
    package let offset: Int
  }

  /// A match that passed a limit.
  package struct LimitPassed: Error, Hashable {}

  package init(pattern: String, options: String = "") throws(Refusal) {
    self.pattern = pattern
    self.options = options
    var flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C
    for option in options {
      switch option {
      case "i": flags |= PCRE2_CASELESS
      case "m": flags |= PCRE2_MULTILINE
      case "s": flags |= PCRE2_DOTALL
      case "x": flags |= PCRE2_EXTENDED
      default: throw Refusal(message: "unknown option \"\(option)\"", offset: 0)
      }
    }
    var error: Int32 = 0
    var offset = 0
    let bytes = Array(pattern.utf8)
    // The array may have no address when it is empty, which PCRE2 does not take.
    let compiled = (bytes + [0]).withUnsafeBufferPointer {
      pcre2_compile_8($0.baseAddress, bytes.count, flags, &error, &offset, nil)
    }
    guard let compiled else { throw Refusal(message: Self.message(error), offset: offset) }
    code = compiled
    hasJIT = pcre2_jit_compile_8(compiled, PCRE2_JIT_COMPLETE) == 0
  }

  deinit {
    idle.withLock { $0 = [] }
    pcre2_code_free_8(code)
  }

  /// Whether the subject, in UTF-8, has a match anywhere.
  package func matches(_ subject: UnsafeRawBufferPointer) throws(LimitPassed) -> Bool {
    let scratch = idle.withLock { $0.popLast() } ?? Scratch(code)
    defer { idle.withLock { $0.append(scratch) } }
    var result = run(subject, scratch, options: 0)
    if result == PCRE2_ERROR_JIT_STACKLIMIT {
      // The compiled matcher has a stack of its own; the interpreter uses the heap, up to the limit.
      result = run(subject, scratch, options: PCRE2_NO_JIT)
    }
    if result >= 0 { return true }
    if result == PCRE2_ERROR_NOMATCH { return false }
    throw LimitPassed()
  }

  private func run(_ subject: UnsafeRawBufferPointer, _ scratch: Scratch, options: UInt32) -> Int32 {
    guard let data = scratch.data else { return PCRE2_ERROR_NOMEMORY }
    let start = subject.baseAddress?.assumingMemoryBound(to: UInt8.self)
    return Self.empty.withUTF8Buffer { empty in
      pcre2_match_8(code, start ?? empty.baseAddress, subject.count, 0, options, data, scratch.context)
    }
  }

  private static let empty: StaticString = ""

  private static func message(_ code: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let length = buffer.withUnsafeMutableBufferPointer {
      pcre2_get_error_message_8(code, $0.baseAddress, 256)
    }
    return length > 0 ? String(decoding: buffer[..<Int(length)], as: UTF8.self) : "error \(code)"
  }

  /// What one match at a time needs for itself.
  private final class Scratch: @unchecked Sendable {
    // Sendable without a lock of its own: one match at a time has it, handed out under the pattern's Mutex.
    let data: OpaquePointer?
    let context: OpaquePointer?
    private let stack: OpaquePointer?

    init(_ code: OpaquePointer) {
      data = pcre2_match_data_create_from_pattern_8(code, nil)
      context = pcre2_match_context_create_8(nil)
      stack = pcre2_jit_stack_create_8(32 * 1024, 1024 * 1024, nil)
      pcre2_set_match_limit_8(context, RegularExpression.matchLimit)
      pcre2_set_heap_limit_8(context, RegularExpression.heapLimitKiB)
      if let stack { pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(stack)) }
    }

    deinit {
      pcre2_match_data_free_8(data)
      pcre2_match_context_free_8(context)
      pcre2_jit_stack_free_8(stack)
    }
  }
}

extension RegularExpression: Hashable {
  package static func == (left: RegularExpression, right: RegularExpression) -> Bool {
    left.pattern.utf8.elementsEqual(right.pattern.utf8) && left.options == right.options
  }

  package func hash(into hasher: inout Hasher) {
    for byte in pattern.utf8 { hasher.combine(byte) }
    hasher.combine(options)
  }
}
