import CDTJSON
import CDTSQLite
import Glibc

/// Makes checkpoints with hardly a pause while another process commits and makes checkpoints, too.
enum Checkpoints {
  static func run(in directory: String) throws -> JSONObject {
    let connection = try Connection(path: "\(directory)/file", mode: .readWrite, busyTimeout: .zero)
    print("ready")
    fflush(nil)
    let parent = getppid()
    while getppid() == parent {
      _ = try connection.checkpointsWholeLog()
      // The other process gets the write lock in between.
      usleep(300)
    }
    return [:]
  }
}
