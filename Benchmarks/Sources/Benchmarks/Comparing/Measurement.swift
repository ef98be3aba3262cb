/// What the rounds of an operation took.
struct Measurement {
  /// How many documents or ids the last round gave or changed.
  var results = 0
  var timings: [Store: [Timing]] = [:]
}
