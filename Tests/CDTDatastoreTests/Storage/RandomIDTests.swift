import CDTPlatform
import FoundationEssentials
import Testing

@Suite struct RandomIDTests {
  @Test func `an id is a UUID of version 4, and differs from others`() throws {
    let ids = (0..<1_000).map { _ in RandomID.uuid() }
    #expect(Set(ids).count == ids.count)
    for id in ids {
      #expect(try #require(UUID(uuidString: id)).uuidString.lowercased() == id)
      #expect(Array(id)[14] == "4" && "89ab".contains(Array(id)[19]))
    }
  }

  @Test func `its digits are those of a UUID`() {
    let digits = RandomID.digits()
    #expect(digits.utf8.count == 32 && digits.allSatisfy(\.isHexDigit))
  }
}
