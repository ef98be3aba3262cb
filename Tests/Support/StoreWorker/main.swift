import CDTDatastore
import CDTJSON
import CDTQuery
import Glibc

/// A process for tests, which prints a JSON object of what it has seen:
///
/// - `cdt-store-worker share DIRECTORY PROCESS THREADS SECONDS` has so many threads do everything to the datastore `shared` for so
///   long, for the test that started it and others like it to add up.
/// - `cdt-store-worker log DIRECTORY PROCESS THREADS SECONDS` has so many threads create, read, update and delete a few documents of
///   the datastore `shared` for so long, and prints a log of it.
/// - `cdt-store-worker attachments DIRECTORY ROLE SECONDS` replaces (0), compacts (1) or reads (2) the attachments of the
///   datastore `store` for so long.
/// - `cdt-store-worker descriptors DIRECTORY` and `store-worker heap DIRECTORY` ask everything of the datastore `store` with ever
///   more file descriptors, or memory for SQLite.
/// - `cdt-store-worker memory DIRECTORY BUDGET` has twelve threads query the datastore `store`, and measures.
/// - `cdt-store-worker die DIRECTORY` changes the datastore `store` and is killed between the commits of documents and indexes.
/// - `cdt-store-worker change DIRECTORY` changes documents of the datastore `store` without using its indexes.
/// - `cdt-store-worker stream DIRECTORY MEGABYTES` saves and reads an attachment of this size, and measures.
/// - `cdt-store-worker words DIRECTORY` makes a text index of the datastore `store`, and searches it.
/// - `cdt-store-worker network DIRECTORY` opens the datastore `store` with a VFS of SQLite that has no shared memory.
/// - `cdt-store-worker migrate DIRECTORY CALLS` migrates the datastore `store`, and is killed at this call of the closure.
/// - `cdt-store-worker checkpoint DIRECTORY` makes checkpoints of the database `file`, one after the other, until it is killed.
let arguments = CommandLine.arguments
let (mode, directory) = (arguments.count > 2 ? arguments[1] : "", arguments.count > 2 ? arguments[2] : "")
let numbers = arguments.dropFirst(3).compactMap { Int($0) }
var report: JSONObject
switch (mode, numbers.count) {
case ("share", 3):
  report = try await StoreWorker.run(
    numbers[1], process: numbers[0], in: directory, for: .seconds(numbers[2]))
case ("log", 3):
  report = try DocumentClient.run(numbers[1], process: numbers[0], in: directory, for: .seconds(numbers[2]))
case ("attachments", 2):
  guard let role = AttachmentWorker.Role(rawValue: numbers[0]) else { exit(64) }
  report = AttachmentWorker.run(role, in: directory, for: .seconds(numbers[1]))
case ("descriptors", 0): report = Shortage.ofDescriptors(in: directory).report
case ("heap", 0): report = Shortage.ofHeap(in: directory).report
case ("memory", 1): report = try MemoryUse(in: directory, budget: numbers[0]).report
case ("die", 0): report = try Dying.run(in: directory)
case ("change", 0): report = try Changing.run(in: directory)
case ("stream", 1): report = try Streaming(directory: directory, megabytes: numbers[0]).run()
case ("words", 0): report = try Words.run(in: directory)
case ("network", 0): report = try NetworkVolume.run(in: directory)
case ("migrate", 1): report = try Migrating.run(in: directory, killedAt: numbers[0])
case ("checkpoint", 0): report = try Checkpoints.run(in: directory)
default:
  print(
    #"{"failures": ["store-worker share|log|attachments|descriptors|heap|memory|die|change|stream|words|network|migrate|checkpoint DIRECTORY …"]}"#
  )
  exit(64)
}
print(JSONValue.object(report).text)
