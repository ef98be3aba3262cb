import CDTGzip
import CDTTestSupport
import CouchDB

/// A byte many times, compressed.
func gzipped(repeating byte: UInt8, count: Int) throws -> [UInt8] {
  let writer = try GzipWriter()
  let piece = [UInt8](repeating: byte, count: 1 << 20)
  var bytes: [UInt8] = []
  for _ in 0..<count >> 20 {
    var chunk = piece[...]
    while let part = writer.next(&chunk) { bytes += part }
  }
  return bytes + writer.finish()
}
