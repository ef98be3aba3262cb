/// The operations that are measured, in the order of the report.
enum Operation: String, CaseIterable, Codable {
  case load
  case loadIndexed = "load_indexed"
  case index, q1, q2, q3, q4, q4i, q5, q6a, q6b, q7, q8, update, maint, disk

  /// The queries that run on the three indexes alone; q4i has one more.
  static let queries: [Operation] = [.q1, .q2, .q3, .q4, .q5, .q6a, .q6b, .q7, .q8]

  /// The number of requests in a round: enough for a round to last tens of milliseconds at 100,000 documents. The
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

  /// The name of the operation for users.
  var title: String {
    switch self {
    case .q1: "two fields, limit 25 (q1)"
    case .q2: "one document by id (q2)"
    case .q3: "sort without an index, top 50 (q3)"
    case .q4: "ids of a tenth, no index (q4)"
    case .q4i: "ids of a tenth, by index (q4i)"
    case .q5: "element of an array, limit 100 (q5)"
    case .q6a: "word in a text, limit 50 (q6a)"
    case .q6b: "word in a text, all (q6b)"
    case .q7: "$or, ids (q7)"
    case .q8: "10,000 whole documents (q8)"
    case .load: "load"
    case .loadIndexed: "load with three indexes"
    case .index: "build three indexes"
    case .update: "one durable update"
    case .maint: "update of one in a hundred"
    case .disk: "size on disk"
    }
  }
}
