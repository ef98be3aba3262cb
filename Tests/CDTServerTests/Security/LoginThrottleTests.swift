import CDTServer
import Testing

@Suite struct LoginThrottleTests {
  private func attempt(_ name: String, _ peer: String = "192.0.2.1") -> LoginThrottle.Attempt {
    LoginThrottle.Attempt(name: name, source: LoginThrottle.Source(peer))
  }

  @Test func `the sixth failure for a name from an address is locked out, and others are not`() {
    var throttle = LoginThrottle()
    for failure in 1...5 {
      #expect(!throttle.isLocked(attempt("mike"), at: .zero), "\(failure)")
      _ = throttle.begin(attempt("mike"), at: .zero)
    }
    #expect(throttle.isLocked(attempt("mike"), at: .zero))
    #expect(!throttle.isLocked(attempt("zoe"), at: .zero))
    #expect(!throttle.isLocked(attempt("mike", "192.0.2.2"), at: .zero))
  }

  @Test func `a lock ends five minutes after the last failure`() {
    var throttle = LoginThrottle()
    for second in 0..<5 { _ = throttle.begin(attempt("mike"), at: .seconds(second)) }
    #expect(throttle.isLocked(attempt("mike"), at: .milliseconds(303_999)))
    #expect(!throttle.isLocked(attempt("mike"), at: .seconds(304)))
    #expect(throttle.begin(attempt("mike"), at: .seconds(304)) == .zero)
  }

  @Test func `delays double up to two seconds`() {
    var throttle = LoginThrottle()
    let delays = (0..<8).map { _ in throttle.begin(attempt("mike"), at: .zero) }
    #expect(delays == [0, 100, 200, 400, 800, 1_600, 2_000, 2_000].map { .milliseconds($0) })
    for _ in 0..<1_000 { #expect(throttle.begin(attempt("mike"), at: .zero) == .seconds(2)) }
  }

  @Test func `guesses for one name from many addresses are slowed, and so are many names from one`() {
    var throttle = LoginThrottle()
    for number in 0..<3 { _ = throttle.begin(attempt("mike", "192.0.2.\(number)"), at: .zero) }
    #expect(throttle.begin(attempt("mike", "198.51.100.1"), at: .zero) == .milliseconds(400))
    for number in 0..<3 { _ = throttle.begin(attempt("user\(number)", "203.0.113.1"), at: .zero) }
    #expect(throttle.begin(attempt("zoe", "203.0.113.1"), at: .zero) == .milliseconds(400))
    #expect(throttle.begin(attempt("zoe", "203.0.113.2"), at: .zero) == .milliseconds(100))
  }

  @Test func `success clears what the pair has failed, and nothing else`() {
    var throttle = LoginThrottle()
    for _ in 0..<3 { _ = throttle.begin(attempt("mike"), at: .zero) }
    _ = throttle.begin(attempt("zoe"), at: .zero)
    throttle.succeed(attempt("mike"), at: .zero)
    // One failure is left of the address, and none of the name.
    #expect(throttle.begin(attempt("ann"), at: .zero) == .milliseconds(100))
    #expect(throttle.begin(attempt("mike", "192.0.2.2"), at: .zero) == .zero)
  }

  @Test func `someone with an account can't clear guesses for other names`() {
    var throttle = LoginThrottle()
    for number in 0..<10 {
      _ = throttle.begin(attempt("victim\(number)"), at: .zero)
      _ = throttle.begin(attempt("me"), at: .zero)
      throttle.succeed(attempt("me"), at: .zero)
    }
    #expect(throttle.begin(attempt("victim"), at: .zero) == LoginThrottle.longestDelay)
  }

  @Test func `an attempt that was not verified does not count`() {
    var throttle = LoginThrottle()
    for _ in 0..<10 {
      _ = throttle.begin(attempt("mike"), at: .zero)
      throttle.withdraw(attempt("mike"))
    }
    #expect(!throttle.isLocked(attempt("mike"), at: .zero))
    #expect(throttle.begin(attempt("mike"), at: .zero) == .zero)
    throttle.withdraw(attempt("nobody"))
    throttle.succeed(attempt("nobody"), at: .zero)
  }

  @Test func `the addresses of one IPv6 network count together, and spellings of an address`() {
    var throttle = LoginThrottle()
    for number in 0..<5 { _ = throttle.begin(attempt("mike", "2001:db8:0:1::\(number)"), at: .zero) }
    #expect(throttle.isLocked(attempt("mike", "2001:0DB8::1:ffff:ffff:ffff:ffff"), at: .zero))
    #expect(!throttle.isLocked(attempt("mike", "2001:db8:0:2::1"), at: .zero))
    for _ in 0..<5 { _ = throttle.begin(attempt("mike", "192.0.2.1"), at: .zero) }
    #expect(throttle.isLocked(attempt("mike", "::ffff:192.0.2.1"), at: .zero))
    #expect(!throttle.isLocked(attempt("mike", "::ffff:192.0.2.2"), at: .zero))
    for _ in 0..<5 { _ = throttle.begin(attempt("mike", "unix:/a"), at: .zero) }
    #expect(throttle.isLocked(attempt("mike", "unix:/a"), at: .zero))
    #expect(!throttle.isLocked(attempt("mike", "unix:/b"), at: .zero))
  }

  @Test func `invented names and addresses don't fill the memory, and don't push out a lock`() {
    var throttle = LoginThrottle(capacity: 100)
    for _ in 0..<5 { _ = throttle.begin(attempt("mike"), at: .zero) }
    for number in 0..<2_000 {
      _ = throttle.begin(attempt("user\(number)", "10.0.\(number / 250).\(number % 250)"), at: .seconds(1))
      _ = throttle.begin(attempt("user\(number)"), at: .seconds(1))
    }
    #expect(throttle.size <= 300)
    #expect(throttle.isLocked(attempt("mike"), at: .seconds(1)))
  }

  @Test func `texts that can't be names need no memory`() {
    var throttle = LoginThrottle()
    for number in 0..<100 {
      _ = throttle.begin(attempt("_\(number)" + String(repeating: "x", count: 10_000)), at: .zero)
    }
    #expect(throttle.size == 3)
    #expect(throttle.isLocked(attempt("a:b"), at: .zero))
  }

  @Test func `expired entries make room`() {
    var throttle = LoginThrottle(capacity: 10)
    for number in 0..<10 { _ = throttle.begin(attempt("user\(number)"), at: .zero) }
    #expect(throttle.size == 21)
    _ = throttle.begin(attempt("mike"), at: LoginThrottle.window)
    #expect(throttle.size == 3)
  }
}
