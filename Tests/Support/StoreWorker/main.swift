import CDTDatastore
import CDTQuery
import Glibc
import JSON

/// A process for tests, which prints a JSON object of what it has seen:
///
/// - `store-worker share DIRECTORY NUMBER SECONDS` writes to and queries the datastore `shared` in every way for so long,
///   for the test that started it and others like it to add up.
/// - `store-worker descriptors DIRECTORY` and `store-worker heap DIRECTORY` ask everything of the datastore `store` with ever
///   more file descriptors, or memory for SQLite.
/// - `store-worker memory DIRECTORY BUDGET` has twelve threads query the datastore `store`, and measures.
/// - `store-worker die DIRECTORY` changes the datastore `store` and is killed between the commits of documents and indexes.
let arguments = CommandLine.arguments
let (mode, directory) = (arguments.count > 2 ? arguments[1] : "", arguments.count > 2 ? arguments[2] : "")
let numbers = arguments.dropFirst(3).compactMap { Int($0) }
var report: JSONObject
switch (mode, numbers.count) {
case ("share", 2):
  var worker = StoreWorker(number: numbers[0])
  worker.run(in: directory, for: .seconds(numbers[1]))
  report = worker.report
case ("descriptors", 0): report = Shortage.ofDescriptors(in: directory).report
case ("heap", 0): report = Shortage.ofHeap(in: directory).report
case ("memory", 1): report = try MemoryUse(in: directory, budget: numbers[0]).report
case ("die", 0): report = try Dying.run(in: directory)
default:
  print(#"{"failures": ["store-worker share|descriptors|heap|memory|die DIRECTORY …"]}"#)
  exit(64)
}
print(JSONValue.object(report).text)
