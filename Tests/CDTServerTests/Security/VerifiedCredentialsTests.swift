import CDTServer
import Testing

@Suite struct VerifiedCredentialsTests {
  private func credentials(_ name: String, _ password: String) -> BasicCredentials {
    BasicCredentials(name: name, password: password)
  }

  @Test func `only the same credentials of the same generation have the same key`() {
    let verified = VerifiedCredentials()
    func key(_ name: String, _ password: String, _ generation: Int = 0) -> VerifiedCredentials.Key {
      verified.key(of: credentials(name, password), generation: generation)
    }
    #expect(key("mike", "secret") == key("mike", "secret"))
    for other in [
      key("mikes", "ecret"), key("mik", "esecret"), key("", "mikesecret"), key("mike", "secret", 1),
      key("mike", "secre"), VerifiedCredentials().key(of: credentials("mike", "secret"), generation: 0),
    ] {
      #expect(key("mike", "secret") != other)
    }
  }

  @Test func `credentials are kept for their time`() {
    var verified = VerifiedCredentials()
    let key = verified.key(of: credentials("mike", "x"), generation: 0)
    verified.insert(key, at: .zero)
    #expect(verified.contains(key, at: VerifiedCredentials.lifetime - .nanoseconds(1)))
    #expect(!verified.contains(key, at: VerifiedCredentials.lifetime))
    verified.removeAll()
    #expect(!verified.contains(key, at: .zero))
  }

  @Test func `the oldest is removed when there are too many`() {
    var verified = VerifiedCredentials(capacity: 3)
    let keys = (0..<4).map { verified.key(of: credentials("user\($0)", "x"), generation: 0) }
    for (number, key) in keys.enumerated() { verified.insert(key, at: .seconds(number)) }
    #expect(verified.size == 3)
    #expect(keys.map { verified.contains($0, at: .seconds(4)) } == [false, true, true, true])
  }
}
