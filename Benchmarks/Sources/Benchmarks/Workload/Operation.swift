/// What is measured, in the order of the report.
enum Operation: String, CaseIterable, Codable {
  case load
  case loadIndexed = "load_indexed"
  case index, q1, q2, q3, q4, q4i, q5, q6a, q6b, q7, q8, update, maint, disk

  /// The queries that run on the three indexes alone; q4i has one more.
  static let queries: [Operation] = [.q1, .q2, .q3, .q4, .q5, .q6a, .q6b, .q7, .q8]

  /// How many questions a round asks: enough for a round to last tens of milliseconds at 100,000 documents. The
  /// parameters are taken from the first on, and again from the first when they are used up.
  var requestsPerRound: Int {
    switch self {
    case .q1: 1_500
    case .q2: 6_000
    case .q3, .q4, .q4i, .q8: 20
    case .q5: 900
    case .q6a: 10
    case .q6b: 5
    case .q7: 60
    case .update: 1_000
    case .load, .loadIndexed, .index, .maint, .disk: 1
    }
  }
}
