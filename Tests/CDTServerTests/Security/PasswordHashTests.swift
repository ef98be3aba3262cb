import CDTServer
import Testing

@Suite struct PasswordHashTests {
  @Test func `a hash verifies its password and no other`() throws {
    let hash = try PasswordHash("correct horse", function: .cheap)
    #expect(try hash.verifies("correct horse"))
    for wrong in ["", "correct hors", "correct horse ", "Correct horse", "correct\0horse", "correct horse\0"]
    {
      #expect(try !hash.verifies(wrong), "\(wrong)")
    }
  }

  @Test func `the standard function is scrypt with 16 MiB`() throws {
    let hash = try PasswordHash("x")
    #expect(hash.function == .scrypt(logN: 14, r: 8, p: 2))
    #expect(hash.text.hasPrefix("$scrypt$ln=14,r=8,p=2$"))
    #expect(try hash.verifies("x"))
    #expect(try !hash.verifies("y"))
  }

  @Test func `each hash has a salt of its own`() throws {
    let texts = try (0..<20).map { _ in try PasswordHash("same", function: .cheap).text }
    #expect(Set(texts).count == 20)
  }

  @Test func `the empty password is wrong, whatever the hash`() throws {
    #expect(try !PasswordHash("", function: .cheap).verifies(""))
  }

  @Test func `a decoy verifies nothing`() throws {
    #expect(try !PasswordHash.decoy(.cheap).verifies("x"))
  }

  struct Known: Sendable, CustomTestStringConvertible {
    let testDescription, text, password: String
  }
  static let known = [
    Known(
      testDescription: "scrypt, RFC 7914",
      text:
        "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw",
      password: "pleaseletmein"),
    Known(
      testDescription: "PBKDF2, as CouchDB writes it",
      text:
        "-pbkdf2:sha256-9d8c02bb4ba486676623692ea93a9c91a9fab0c0d2502b839a8ae23211ca637a,0123456789abcdef0123456789abcdef,10",
      password: "correct horse"),
  ]

  @Test(arguments: known)
  func `verifies what other programs derived`(_ known: Known) throws {
    let hash = try #require(PasswordHash(text: known.text))
    #expect(try hash.verifies(known.password))
    #expect(try !hash.verifies(known.password + "x"))
    #expect(hash.text == known.text)
  }

  @Test func `a text that was written is read`() throws {
    let hash = try PasswordHash("secret", function: .scrypt(logN: 5, r: 2, p: 3))
    let read = try #require(PasswordHash(text: hash.text))
    #expect(read.text == hash.text)
    #expect(try read.verifies("secret"))
  }

  @Test func `the costliest functions that are accepted can be derived`() throws {
    for parameters in ["ln=10,r=16,p=1", "ln=4,r=1,p=8", "ln=15,r=1,p=1", "ln=1,r=16,p=8"] {
      let text = "$scrypt$\(parameters)$MDEyMzQ1Njc4$MDEyMzQ1Njc4OTAxMjM0NTY"
      let hash = try #require(PasswordHash(text: text), "\(parameters)")
      #expect(try !hash.verifies("x"), "\(parameters)")
    }
  }

  static let salt = "MDEyMzQ1Njc4"
  static let key = "MDEyMzQ1Njc4OTAxMjM0NTY"
  static let hexadecimalKey = String(repeating: "0a", count: 32)

  @Test(arguments: [
    "", "secret", "$", "$scrypt$", "$scrypt$$$", "$bcrypt$ln=4,r=1,p=1$\(salt)$\(key)",
    "$scrypt$ln=4,r=1,p=1$\(salt)", "$scrypt$ln=4,r=1,p=1$\(salt)$\(key)$", "$scrypt$ln=4,r=1$\(salt)$\(key)",
    "$scrypt$ln=4,p=1,r=1$\(salt)$\(key)", "$scrypt$ln=4,r=1,p=1,x=1$\(salt)$\(key)",
    // Bytes that are no Base64, or padded, or too short or long.
    "$scrypt$ln=4,r=1,p=1$\(salt)$!!!!", "$scrypt$ln=4,r=1,p=1$\(salt)$\(key)=",
    "$scrypt$ln=4,r=1,p=1$$\(key)", "$scrypt$ln=4,r=1,p=1$\(salt)$", "$scrypt$ln=4,r=1,p=1$MDEy$\(key)",
    "$scrypt$ln=4,r=1,p=1$\(salt)$MDEyMzQ1",
    "$scrypt$ln=4,r=1,p=1$\(salt)$" + String(repeating: "A", count: 400),
    // Too much memory, too much time, or numbers that are none.
    "$scrypt$ln=20,r=8,p=1$\(salt)$\(key)", "$scrypt$ln=17,r=8,p=1$\(salt)$\(key)",
    "$scrypt$ln=14,r=1000000,p=1$\(salt)$\(key)", "$scrypt$ln=14,r=8,p=1000000$\(salt)$\(key)",
    "$scrypt$ln=63,r=16,p=8$\(salt)$\(key)", "$scrypt$ln=64,r=1,p=1$\(salt)$\(key)",
    "$scrypt$ln=16,r=1,p=1$\(salt)$\(key)", "$scrypt$ln=0,r=1,p=1$\(salt)$\(key)",
    "$scrypt$ln=4,r=0,p=1$\(salt)$\(key)", "$scrypt$ln=4,r=1,p=0$\(salt)$\(key)",
    "$scrypt$ln=-4,r=1,p=1$\(salt)$\(key)", "$scrypt$ln=+4,r=1,p=1$\(salt)$\(key)",
    "$scrypt$ln=99999999999999999999,r=1,p=1$\(salt)$\(key)", "$scrypt$ln=,r=1,p=1$\(salt)$\(key)",
    "$scrypt$ln=٤,r=1,p=1$\(salt)$\(key)",
    "-pbkdf2:sha256-\(hexadecimalKey),12345678,0", "-pbkdf2:sha256-\(hexadecimalKey),12345678,-1",
    "-pbkdf2:sha256-\(hexadecimalKey),12345678,2000001", "-pbkdf2:sha256-\(hexadecimalKey),12345678,",
    "-pbkdf2:sha256-\(hexadecimalKey),1234567,10", "-pbkdf2:sha256-\(hexadecimalKey),10",
    "-pbkdf2:sha256-0a,12345678,10", "-pbkdf2:sha256-\(hexadecimalKey)0,12345678,10",
    "-pbkdf2:sha256-\(String(repeating: "zz", count: 32)),12345678,10",
    "-pbkdf2:sha-\(hexadecimalKey),12345678,10",
  ])
  func `refuses a text other than a hash, and a hash that is too costly`(_ text: String) {
    #expect(PasswordHash(text: text) == nil)
  }
}

extension PasswordHash.Function {
  /// A function that costs next to nothing.
  static let cheap = PasswordHash.Function.scrypt(logN: 4, r: 1, p: 1)
}
