import CDTDatastore
import CDTWorkloads

/// Does the steps of a workload, and tells of each when it is done.
enum Work {
  static func run(
    _ workload: Workload, in directory: String, seed: UInt64, steps count: Int, _ options: DatastoreOptions
  ) throws {
    var session = try Session(directory, options: options)
    var steps = workload.steps(seed: seed, from: try StoreModel(reading: session.store))
    tell(0)
    var done = 0
    while count == 0 || done < count {
      try steps.next().perform(in: &session)
      done += 1
      tell(done)
    }
    try session.close()
  }

  private static func tell(_ number: Int) {
    Faults.mark(number)
    print(number)
  }
}
