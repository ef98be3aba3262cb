import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTImport

/// Batches are read while others are written, which nobody should notice.
@Suite struct ImportAheadTests {
  /// What an import does and tells, in order.
  private final class Told: Sendable {
    let lines = Mutex<[String]>([])

    func note(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private static func outcome(of reader: ImportReader, into store: Datastore) throws -> [String] {
    let told = Told()
    var reader = reader
    reader.onInvalidDocument = { told.note("invalid: \($0.line) \($0.message)") }
    reader.onNotice = { told.note($0) }
    reader.onProgress = { told.note("\($0)") }
    do {
      told.note("end: \(try DocumentImporter(into: store).run(reader))")
    } catch {
      told.note("error: \(error)")
    }
    let documents = try store.read { try $0.allDocuments() }
    return told.lines.withLock(\.self) + documents.map { "\($0.id) \($0.revisionID) \($0.body.text)" }
  }

  private static func line(_ random: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: return #"{"_id":7}"#
    case 1: return #"{"a":}"#
    case 2: return #"{"_id":"t\#(Int.random(in: 0..<40, using: &random))","_deleted":true}"#
    case 3: return #"{"_id":"s","_attachments":{"a":{"stub":true}}}"#
    case 4: return #"{"_id":"_x"}"#
    case 5: return ""
    default:
      return
        #"{"_id":"d\#(Int.random(in: 0..<200, using: &random))","n":\#(Int.random(in: 0..<9, using: &random)),"x":"\#(Int.random(in: 0..<1_000_000, using: &random))"}"#
    }
  }

  /// Pieces of a stream are not read ahead.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a file is imported and reported as a stream is, which is read batch after batch`(_ seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    var (errors, aheads) = (0, 0)
    for _ in 0..<20 {
      let keepsGoing = chance(70)
      let lines = (0..<Int.random(in: 0..<120, using: &random)).map { number in
        keepsGoing || chance(10) ? Self.line(&random) : #"{"_id":"n\#(number)"}"#
      }
      let text = lines.joined(separator: "\n")
      let (batch, rule) = (
        Int.random(in: 1...12, using: &random),
        DocumentImporter.ConflictRule.allCases.randomElement(using: &random) ?? .fail
      )
      func configured(_ reader: ImportReader) -> ImportReader {
        var reader = reader
        (reader.batchSize, reader.onConflict, reader.continuesOnError) = (batch, rule, keepsGoing)
        return reader
      }
      try withTemporaryDirectory { directory in
        let path = directory + "/file"
        try Data(text.utf8).write(to: URL(filePath: path))
        let manager = try DatastoreManager(directory: directory + "/stores")
        defer { manager.close() }
        let rest = Mutex(Array(text.utf8)[...])
        let stream = ImportReader(path) {
          .success(
            rest.withLock { rest in
              defer { rest = rest.dropFirst(1_000) }
              return Array(rest.prefix(1_000))
            })
        }
        var ahead = configured(ImportReader([path]))
        if (try? ahead.next()) == true, let reading = ahead.readAhead() {
          aheads += 1
          _ = reading.wait()
        }
        let expected = try Self.outcome(
          of: configured(stream), into: try manager.datastore(named: "streamed"))
        let found = try Self.outcome(
          of: configured(ImportReader([path])), into: try manager.datastore(named: "read"))
        #expect(found == expected, "\(text)")
        if expected.contains(where: { $0.hasPrefix("error") }) { errors += 1 }
      }
    }
    #expect(errors > 0 && aheads > 10)
  }
}
