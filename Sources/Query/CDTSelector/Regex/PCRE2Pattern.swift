#if canImport(CDTCPCRE2)
  import CDTCPCRE2
  import Synchronization

  /// A pattern compiled by PCRE2.
  ///
  /// The just-in-time compiler is used if available. A match that needs more than ``heapLimitKiB`` of memory ends with an error.
  final class PCRE2Pattern: PatternEngine, @unchecked Sendable {
    // Sendable without a lock: `code` is immutable after compilation and can be shared by threads, and everything that a
    // match changes is in a Scratch, which is guarded by the Mutex.

    /// Whether a match can only begin at the start of the subject.
    let isAnchored: Bool
    /// Whether the result depends on the position at which matching begins, as with `\G` and verbs such as `(*COMMIT)`.
    let isIndivisible: Bool

    private let code: OpaquePointer
    private let idle = Mutex<[Scratch]>([])

    /// The maximum memory of a match, in KiB.
    static let heapLimitKiB: UInt32 = 20_000

    init(_ pattern: String, options: String) throws(RegularExpression.Refusal) {
      code = try Self.compile(pattern, options: options, Self.safeguards(pattern))
      isIndivisible = pattern.utf8.contains("\\G".utf8) || pattern.utf8.contains("(*".utf8)
      var properties: UInt32 = 0
      pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_ALLOPTIONS), &properties)
      isAnchored = properties & PCRE2_ANCHORED != 0
    }

    deinit {
      idle.withLock { $0 = [] }
      pcre2_code_free_8(code)
    }

    private static func compile(
      _ pattern: String, options: String, _ safeguards: UInt32
    ) throws(RegularExpression.Refusal) -> OpaquePointer {
      var flags = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT
      for option in options.utf8 {
        switch option {
        case UInt8(ascii: "i"): flags |= PCRE2_CASELESS
        case UInt8(ascii: "m"): flags |= PCRE2_MULTILINE
        case UInt8(ascii: "s"): flags |= PCRE2_DOTALL
        default: flags |= PCRE2_EXTENDED
        }
      }
      flags |= safeguards
      var error: Int32 = 0
      var offset = 0
      let bytes = Array(pattern.utf8)
      // An empty array may have no address, which PCRE2 does not accept.
      let compiled = (bytes + [0]).withUnsafeBufferPointer {
        pcre2_compile_8($0.baseAddress, bytes.count, flags, &error, &offset, nil)
      }
      guard let compiled else {
        throw RegularExpression.Refusal(message: message(error), offset: offset)
      }
      // Without the just-in-time compiler the interpreter is used.
      if safeguards & PCRE2_NO_AUTO_POSSESS == 0 { pcre2_jit_compile_8(compiled, PCRE2_JIT_COMPLETE) }
      return compiled
    }

    private init(code: OpaquePointer) {
      (self.code, isAnchored, isIndivisible) = (code, false, false)
    }

    /// The options without which optimizations of PCRE2 10.42 miss matches of a pattern. See decision 41.
    private static func safeguards(_ pattern: String) -> UInt32 {
      func has(_ constructs: [String]) -> Bool { constructs.contains { pattern.utf8.contains($0.utf8) } }
      var flags: UInt32 = 0
      if has([#"\D"#, #"\W"#, #"\S"#, #"\R"#, "(?>", "(*", "*+", "++", "?+", "}+"]) {
        flags |= PCRE2_NO_AUTO_POSSESS
      }
      if has(["(?=", "(*"]) || has(["|"]) && has(["*", "{0,"]) { flags |= PCRE2_NO_START_OPTIMIZE }
      return flags == 0 || isSound ? 0 : flags
    }

    /// Whether the library finds matches that these optimizations of PCRE2 10.42 miss.
    private static let isSound: Bool = [
      (#"\D"#, "é"), ("(?>[ab]+?)c", "abc"), ("[ab]+(?>|_)b", "ab"), ("(?=a)(?:b|)a", "a"),
      ("(?:xy|x)s*y", "xy"), (#".*\R"#, "\r"),
    ].allSatisfy { pattern, subject in
      guard let code = try? compile(pattern, options: "", 0) else { return false }
      let compiled = PCRE2Pattern(code: code)
      return Array(subject.utf8).withUnsafeBytes { bytes in
        compiled.firstMatch(in: bytes, at: 0...bytes.count, steps: MatchBudget.maximumSteps) == .match
      }
    }

    func matches(
      _ subject: UnsafeRawBufferPointer, _ budget: MatchBudget
    ) throws(RegularExpression.LimitPassed) -> Bool {
      let scratch = idle.withLock { $0.popLast() } ?? Scratch(code)
      defer { idle.withLock { $0.append(scratch) } }
      var search = PatternSearch(self, subject, budget, scratch)
      return try search.run()
    }

    /// Looks for a match that begins at one of some positions.
    ///
    /// - Parameters:
    ///   - positions: Offsets of the subject, or its length.
    ///   - steps: The maximum number of steps at each position.
    ///   - scratch: Memory of a match, or `nil` for new memory.
    func firstMatch(
      in subject: UnsafeRawBufferPointer, at positions: ClosedRange<Int>, steps: Int,
      _ scratch: Scratch? = nil
    ) -> MatchOutcome {
      let scratch = scratch ?? Scratch(code)
      guard let data = scratch.data else { return .failed }
      pcre2_set_match_limit_8(scratch.context, UInt32(clamping: steps))
      pcre2_set_offset_limit_8(scratch.context, positions.upperBound)
      let start = subject.baseAddress?.assumingMemoryBound(to: UInt8.self)
      func run(_ options: UInt32) -> Int32 {
        Self.empty.withUTF8Buffer { empty in
          pcre2_match_8(
            code, start ?? empty.baseAddress, subject.count, positions.lowerBound, options, data,
            scratch.context)
        }
      }
      var result = run(0)
      // The compiled matcher has its own stack; the interpreter uses the heap, up to the limit.
      if result == PCRE2_ERROR_JIT_STACKLIMIT { result = run(PCRE2_NO_JIT) }
      switch result {
      case 0...: return .match
      case PCRE2_ERROR_NOMATCH: return .noMatch
      case PCRE2_ERROR_MATCHLIMIT: return .needsMoreSteps
      default: return .failed
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

    /// The memory of one match at a time.
    final class Scratch: @unchecked Sendable {
      // Sendable without a lock: one match at a time uses it, guarded by the pattern's Mutex.
      let data: OpaquePointer?
      let context: OpaquePointer?
      private let stack: OpaquePointer?

      init(_ code: OpaquePointer) {
        data = pcre2_match_data_create_from_pattern_8(code, nil)
        context = pcre2_match_context_create_8(nil)
        stack = pcre2_jit_stack_create_8(32 * 1024, 1024 * 1024, nil)
        pcre2_set_heap_limit_8(context, PCRE2Pattern.heapLimitKiB)
        if let stack { pcre2_jit_stack_assign_8(context, nil, UnsafeMutableRawPointer(stack)) }
      }

      deinit {
        pcre2_match_data_free_8(data)
        pcre2_match_context_free_8(context)
        pcre2_jit_stack_free_8(stack)
      }
    }
  }

  /// The result of one call of PCRE2.
  enum MatchOutcome {
    case match, noMatch, needsMoreSteps
    /// It needs more memory than allowed.
    case failed
  }
#endif
