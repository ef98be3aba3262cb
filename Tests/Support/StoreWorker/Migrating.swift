import CDTDatastore
import CDTJSON
import CDTQuery
import Glibc

/// Migrates a datastore as `MigrationTests` does, and is killed on the way.
enum Migrating {
  static func run(in directory: String, killedAt last: Int) throws -> JSONObject {
    let manager = try DatastoreManager(directory: directory)
    let store = try manager.datastore(named: "store")
    var calls = 0
    try store.migrate("split", matching: ["name": ["$type": "string"]], batch: 100) { document in
      calls += 1
      if calls == last {
        kill(getpid(), SIGKILL)
        while true { pause() }
      }
      document.body["name"] = ["first": document.body["name"] ?? .null, "count": 1]
    }
    return ["failures": ["it was not killed"]]
  }
}
