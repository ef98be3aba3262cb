import CDTDatastore
import CDTQuery
import Glibc
import JSON

/// `store-worker DIRECTORY NUMBER SECONDS`: writes to and queries the datastore `shared` in every way for so long, and
/// prints a JSON object of what it did, for the test that started it and others like it to add up.
let arguments = CommandLine.arguments
guard arguments.count == 4, let number = Int(arguments[2]), let seconds = Int64(arguments[3]) else {
  print(#"{"failures": ["usage: store-worker DIRECTORY NUMBER SECONDS"]}"#)
  exit(64)
}

var worker = StoreWorker(number: number)
worker.run(in: arguments[1], for: .seconds(seconds))
print(JSONValue.object(worker.report).text)
