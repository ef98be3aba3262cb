import CDTGzip
import CDTTestSupport
import Testing

@Suite struct GzipTests {
  /// `printf hello | gzip -n`.
  private static let hello: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00,
    0x86, 0xA6,
    0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
  ]

  private func compressed(_ content: [UInt8], chunks size: Int = 1 << 16) throws -> [UInt8] {
    let writer = try GzipWriter()
    var stream: [UInt8] = []
    for var chunk in content.chunks(of: size) {
      while let piece = writer.next(&chunk) { stream += piece }
      #expect(chunk.isEmpty)
    }
    return stream + writer.finish()
  }

  private func read(_ chunks: [ArraySlice<UInt8>], limit: Int64 = 1 << 40) throws(GzipError) -> [UInt8] {
    let reader = try GzipReader(limit: limit)
    var content: [UInt8] = []
    for var chunk in chunks {
      while let piece = try reader.next(&chunk) {
        #expect(!piece.isEmpty && piece.count <= GzipReader.maximumPieceSize)
        content += piece
      }
      #expect(chunk.isEmpty)
    }
    try reader.finish()
    return content
  }

  private func random(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  @Test func `a stream of gzip may be cut in two anywhere`() throws {
    for cut in 0...Self.hello.count {
      #expect(try read([Self.hello[..<cut], Self.hello[cut...]]) == Array("hello".utf8), "cut at \(cut)")
    }
    #expect(try read(Self.hello.chunks(of: 1)) == Array("hello".utf8))
  }

  @Test(arguments: [0, 1, 100, 65_535, 65_536, 65_537, 1_000_000]) func `content survives`(count: Int) throws
  {
    for content in [random(count, seed: 1), Array(repeating: 7, count: count)] {
      let stream = try compressed(content, chunks: 10_007)
      #expect(try compressed(content) == stream)
      #expect(try read(stream.chunks(of: 1_009)) == content)
      #expect(try read([stream[...]]) == content)
    }
  }

  @Test func `several members are one content`() throws {
    let stream = Self.hello + (try compressed([])) + Self.hello
    for size in 1...stream.count {
      #expect(try read(stream.chunks(of: size)) == Array("hellohello".utf8), "chunks of \(size)")
    }
  }

  @Test func `every truncation is noticed`() throws {
    let stream = Self.hello + Self.hello
    for count in 0..<stream.count where count != Self.hello.count {
      #expect(throws: GzipError.truncated, "\(count) bytes") { try read([stream[..<count]]) }
    }
  }

  @Test func `every flipped bit is noticed, or is in a field without meaning`() throws {
    for position in Self.hello.indices {
      for bit in 0..<8 {
        var stream = Self.hello
        stream[position] ^= 1 << UInt8(bit)
        let content = try? read([stream[...]])
        // The time, the flags of the compressor and the system; the flag that the content is text; and the bits that fill
        // the last byte of the compressed content.
        let isFree = (4...9).contains(position) || (position == 3 && bit == 0) || (position == 16 && bit > 1)
        #expect(content == (isFree ? Array("hello".utf8) : nil), "byte \(position), bit \(bit)")
      }
    }
  }

  @Test(arguments: [[0, 0], Array("hello".utf8), [0x1F], [0x78, 0x9C, 0x03, 0x00]])
  func `text after a stream`(rest: [UInt8]) {
    let error: GzipError = rest.count == 1 ? .truncated : .corrupt
    #expect(throws: error) { try read([(Self.hello + rest)[...]]) }
    #expect(throws: error) { try read([Self.hello[...], rest[...]]) }
  }

  @Test func `after an error every call throws it`() throws {
    let reader = try GzipReader(limit: 10)
    var bad = Array("hello".utf8)[...]
    #expect(throws: GzipError.corrupt) { try reader.next(&bad) }
    var good = Self.hello[...]
    #expect(throws: GzipError.corrupt) { try reader.next(&good) }
    #expect(throws: GzipError.corrupt) { try reader.finish() }
  }

  @Test func `content up to the limit is read, one byte more is refused`() throws {
    #expect(try read([Self.hello[...]], limit: 5).count == 5)
    #expect(throws: GzipError.tooLarge(limit: 4)) { try read([Self.hello[...]], limit: 4) }
    #expect(throws: GzipError.tooLarge(limit: 9)) { try read([(Self.hello + Self.hello)[...]], limit: 9) }
    #expect(try read([(try compressed([]))[...]], limit: 0).isEmpty)
  }

  @Test func `a bomb ends at the limit`() throws {
    let bomb = try compressed(Array(repeating: 0, count: 50_000_000))
    #expect(bomb.count < 100_000)
    let reader = try GzipReader(limit: 1_000_000)
    var chunk = bomb[...]
    var total = 0
    #expect(throws: GzipError.tooLarge(limit: 1_000_000)) {
      while let piece = try reader.next(&chunk) { total += piece.count }
    }
    #expect(total <= 1_000_000)
  }

  @Test func `random bytes never crash, and are read alike in any chunks`() throws {
    let seed = testSeed(20)
    var random = SeededGenerator(seed: seed)
    let valid = try compressed(Array("some content, some content".utf8))
    for round in 0..<3_000 {
      var stream = Bool.random(using: &random) ? valid : [0x1F, 0x8B, 0x08]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let byte = UInt8.random(in: 0...255, using: &random)
        if Bool.random(using: &random) {
          stream[Int.random(in: 0..<stream.count, using: &random)] = byte
        } else {
          stream.insert(byte, at: Int.random(in: 0...stream.count, using: &random))
        }
      }
      let size = Int.random(in: 1...7, using: &random)
      let whole = Result { () throws(GzipError) in try read([stream[...]], limit: 1_000) }
      let chunked = Result { () throws(GzipError) in try read(stream.chunks(of: size), limit: 1_000) }
      #expect(whole == chunked, "seed \(seed), round \(round)")
    }
  }
}
