import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore
@testable import CDTQuery
@testable import CDTSelector

/// Random damage of a store's files: a bit, bytes, a page, two pages exchanged, a file cut off, in an encrypted store also
/// an earlier state of a page. Whatever is read then is
/// right, or an error.
///
/// `make torture` runs 10,000 of them: `DAMAGES=10000 DAMAGE_SEED=1`.
@Suite struct DamageTests {
  private static let environment = ProcessInfo.processInfo.environment

  @Test(arguments: [false, true], DamageTrial.Form.allCases)
  func `no damage gives a wrong answer without an error`(hasLog: Bool, form: DamageTrial.Form) throws {
    let count = Self.environment["DAMAGES"].flatMap { Int($0) } ?? 100
    let seed = Self.environment["DAMAGE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
    try withTemporaryDirectory { directory in
      let trial = try DamageTrial(in: directory, hasLog: hasLog, form)
      #expect(trial.whole.errors == [:])
      #expect(trial.whole.answers["query 0"]?.isEmpty == false)
      var (harmless, found) = (0, 0)
      for number in 0..<count / 2 {
        var random = SeededGenerator(seed: seed &+ UInt64(number))
        let damaged = "\(directory)/damaged"
        let what = try trial.damage(damaged, &random)
        let reading = try DamageTrial.read(damaged, trial.options)
        let wrong = reading.answers.filter { trial.whole.answers[$0.key] != $0.value }
        #expect(wrong.isEmpty, "seed \(seed &+ UInt64(number)), \(what)")
        if reading.errors.isEmpty { harmless += 1 } else { found += 1 }
        try check(damaged, trial.options, after: reading, what)
        try trial.recover(damaged, what)
      }
      print(
        "\(count / 2) damages of a store (\(form)) \(hasLog ? "with" : "without") logs: \(found) found, \(harmless) without effect"
      )
    }
  }

  /// What a read meets, `check` finds.
  private func check(
    _ directory: String, _ options: DatastoreOptions, after reading: DamageTrial.Reading, _ what: String
  ) throws {
    let isReadable = reading.errors.isEmpty
    let manager = try DatastoreManager(directory: directory, options: options)
    defer { manager.close() }
    do {
      let store = try manager.existingDatastore(named: "store")
      let findings = try store.checkIntegrity()
      #expect(isReadable || !findings.isEmpty, "\(what): \(reading.errors)")
    } catch let error as DatastoreError {
      #expect(!isReadable, "\(what): \(error)")
    }
  }
}
