import CDTDatastore
import CDTWorkloads
@preconcurrency import Glibc

/// A process for tests to kill, to trace, and to make calls fail in:
///
/// - `cdt-crashtest work DIRECTORY WORKLOAD SEED STEPS full|normal` does steps of a workload on the datastore `store`, endlessly
///   if STEPS is 0. It prints 0 when the datastore is open, and then the number of each step that is done.
/// - `cdt-crashtest faults DIRECTORY SEED POINTS [OPERATION]` makes calls fail in every operation, or in one, and prints what was
///   wrong. It tries POINTS calls of each kind in each operation, or all if POINTS is 0.
/// - `cdt-crashtest faults DIRECTORY SEED 1 OPERATION KIND NUMBER` makes only this call fail: malloc 4695, for
///   example. With NUMBER 0 it tries all calls of the kind.
/// - `cdt-crashtest beside DIRECTORY` does every operation while another connection has the datastore open, and prints the files that
///   were opened by other code than SQLite while SQLite had them open.
///
/// With `encrypted` in place of `full`, and `encrypted-` before another command, the datastore is encrypted. With `-small` behind
/// any of them, SQLite's caches have ten pages, so that transactions are larger.
let arguments = CommandLine.arguments
let command = arguments.dropFirst().first?.replacing("-small", with: "") ?? ""
var options = DatastoreOptions()
if arguments.contains(where: { $0.hasSuffix("-small") }) { options.memoryBudget = 0 }
setvbuf(stdout, nil, Int32(_IOLBF), 0)
do {
  switch (command, arguments.count) {
  case ("work", 7):
    guard let workload = Workload.named(arguments[3]), let seed = UInt64(arguments[4]),
      let steps = Int(arguments[5])
    else { exit(64) }
    options.durability = arguments[6].hasPrefix("normal") ? .normal : .full
    if arguments[6].hasPrefix("encrypted") { options.encryption = Session.key }
    try Work.run(workload, in: arguments[2], seed: seed, steps: steps, options)
  case ("faults", 5), ("faults", 6), ("encrypted-faults", 5), ("encrypted-faults", 6):
    guard let seed = UInt64(arguments[3]), let points = Int(arguments[4]) else { exit(64) }
    if command == "encrypted-faults" { options.encryption = Session.key }
    var run = try FaultRun(directory: arguments[2], seed: seed, points: points, options)
    try run.run(only: arguments.count > 5 ? arguments[5] : nil)
  case ("beside", 3), ("encrypted-beside", 3):
    if command == "encrypted-beside" { options.encryption = Session.key }
    var run = try FaultRun(directory: arguments[2], seed: 1, points: 1, options)
    try run.lookBesideSQLite()
  case ("faults", 8), ("encrypted-faults", 8):
    guard let seed = UInt64(arguments[3]), let kind = Faults.Kind(rawValue: arguments[6]),
      let number = Int(arguments[7])
    else { exit(64) }
    if command == "encrypted-faults" { options.encryption = Session.key }
    var run = try FaultRun(
      directory: arguments[2], seed: seed, points: number == 0 ? 0 : 1, options, call: (kind, number))
    try run.run(only: arguments[5])
  default:
    print("usage: cdt-crashtest work DIRECTORY WORKLOAD SEED STEPS full|normal")
    print("       cdt-crashtest faults DIRECTORY SEED POINTS [OPERATION [KIND NUMBER]]")
    print("       cdt-crashtest beside DIRECTORY")
    exit(64)
  }
} catch {
  print("PROBLEM \(error)")
  exit(70)
}
