import CDTServer
import CouchDB
import Dispatch
import Testing

// Guessing of passwords, and the load that it makes.
extension AuthenticatorTests {
  @Test func `after five wrong passwords the right one is refused too, at that address only`() async throws {
    let authenticator = try authenticator()
    let login = try await authenticator.logIn(name: "mike", password: "correct:horse", from: peer)
    let right = Self.basic("mike", "correct:horse")
    for number in 0..<5 {
      #expect(await error(authenticator, Self.basic("mike", "guess\(number)")) == .wrongPassword)
    }
    #expect(await error(authenticator, right) == .accountLocked)
    #expect(await error(authenticator, Self.basic("mike", "guess")) == .accountLocked)
    await #expect(throws: CouchError.accountLocked) {
      try await authenticator.logIn(name: "mike", password: "correct:horse", from: peer)
    }
    #expect(try await identity(authenticator, right, from: "203.0.113.9").name == "mike")
    #expect(try await identity(authenticator, Self.basic("root", "root")).name == "root")
    // A session is no guess.
    #expect(try await identity(authenticator, nil, cookies: [Self.pair(login.cookie)]).name == "mike")
    time.advance(by: LoginThrottle.window)
    #expect(try await identity(authenticator, right).name == "mike")
  }

  @Test func `a name that nobody has is locked in the same way`() async throws {
    let authenticator = try authenticator()
    for _ in 0..<5 { #expect(await error(authenticator, Self.basic("nobody", "x")) == .wrongPassword) }
    #expect(await error(authenticator, Self.basic("nobody", "x")) == .accountLocked)
  }

  @Test func `guesses are slowed before they are verified, and the right password clears them`() async throws
  {
    let authenticator = try authenticator()
    for number in 0..<4 { _ = await error(authenticator, Self.basic("mike", "guess\(number)")) }
    #expect(time.sleeps == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
    #expect(try await identity(authenticator, Self.basic("mike", "correct:horse")).name == "mike")
    #expect(time.sleeps.last == .milliseconds(800))
    _ = await error(authenticator, Self.basic("mike", "guess"))
    #expect(time.sleeps.count == 4)
  }

  @Test func `guesses at the same time don't escape the limit`() async throws {
    let authenticator = try authenticator()
    let errors = await withTaskGroup(of: CouchError?.self) { group in
      for number in 0..<40 {
        group.addTask { await self.error(authenticator, Self.basic("mike", "guess\(number)")) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(errors.count { $0 == .wrongPassword } == 5)
    #expect(errors.count { $0 == .accountLocked } == 35)
  }

  @Test func `many requests with the right password at the same time all pass`() async throws {
    let authenticator = try authenticator()
    let names = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try? await self.identity(authenticator, Self.basic("mike", "correct:horse")).name
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(names.allSatisfy { $0 == "mike" })
  }

  @Test func `one address can't take all places of those who log in`() async throws {
    let authenticator = try authenticator()
    // From the second attempt on, an address is delayed.
    #expect(await error(authenticator, Self.basic("user", "x")) == .wrongPassword)
    time.hold()
    try await withThrowingTaskGroup(of: CouchError?.self) { group in
      for number in 0..<16 {
        group.addTask { await self.error(authenticator, Self.basic("user\(number)", "x")) }
      }
      try await time.waitForSleepers(16)
      #expect(await error(authenticator, Self.basic("mike", "correct:horse")) == .tooManyLogins)
      #expect(await error(authenticator, Self.basic("mike", "correct:horse"), from: "203.0.113.9") == nil)
      time.release()
      #expect(try await group.allSatisfy { $0 == .wrongPassword })
    }
    #expect(try await identity(authenticator, Self.basic("root", "root")).name == "root")
  }

  // MARK: Load

  @Test func `an overload is 503, and counts as no failure`() async throws {
    let authenticator = try authenticator(work: PasswordWork(limit: 0))
    for _ in 0..<10 {
      #expect(await error(authenticator, Self.basic("mike", "correct:horse")) == .busyWithLogins)
    }
    #expect(time.sleeps == [])
  }

  @Test func `verified credentials need no derivation for a minute`() async throws {
    let work = PasswordWork(limit: 1)
    let authenticator = try authenticator(work: work)
    let right = Self.basic("mike", "correct:horse")
    #expect(try await identity(authenticator, right).name == "mike")
    // From now on every derivation is refused.
    let end = await Self.occupy(work)
    time.advance(by: VerifiedCredentials.lifetime - .milliseconds(1))
    #expect(try await identity(authenticator, right, from: "203.0.113.9").handler == .basic)
    #expect(await error(authenticator, Self.basic("mike", "correct:hors")) == .busyWithLogins)
    #expect(await error(authenticator, Self.basic("mikecorrect", "horse")) == .busyWithLogins)
    time.advance(by: .milliseconds(1))
    #expect(await error(authenticator, right) == .busyWithLogins)
    await end()
  }

  /// Gives a place of the work to a derivation that lasts until the returned closure is called.
  private static func occupy(_ work: PasswordWork) async -> () async -> Void {
    let hold = DispatchSemaphore(value: 0)
    let (started, continuation) = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      _ = await work.run {
        continuation.finish()
        hold.wait()
      }
    }
    for await _ in started {}
    return {
      hold.signal()
      await running.value
    }
  }

  @Test func `verified credentials are forgotten when the file changes`() async throws {
    let authenticator = try authenticator()
    let old = Self.basic("mike", "correct:horse")
    #expect(try await identity(authenticator, old).name == "mike")
    _ = try file.setPassword("new", of: "mike", roles: ["other"], function: .cheap)
    time.advance(by: .seconds(1))
    #expect(await error(authenticator, old) == .wrongPassword)
    #expect(try await identity(authenticator, Self.basic("mike", "new")).roles == ["other"])
    try file.remove("mike")
    time.advance(by: .seconds(1))
    #expect(await error(authenticator, Self.basic("mike", "new")) == .wrongPassword)
  }
}
