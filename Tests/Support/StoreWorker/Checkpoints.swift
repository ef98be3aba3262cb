import CDTJSON
import CDTSQLite

/// Makes checkpoints without a pause while another process commits and makes checkpoints, too.
enum Checkpoints {
  static func run(in directory: String) throws -> JSONObject {
    let connection = try Connection(path: "\(directory)/file", mode: .readWrite, busyTimeout: .zero)
    print("ready")
    while true { _ = try connection.checkpointsWholeLog() }
  }
}
