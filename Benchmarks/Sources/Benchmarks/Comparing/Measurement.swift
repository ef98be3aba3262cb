/// The times of the rounds of an operation.
struct Measurement {
  /// The number of documents or ids that the last round gave or changed.
  var results = 0
  var timings: [Store: [Timing]] = [:]
}
