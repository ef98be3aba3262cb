/// The best of three other stores in an operation, as was published for 100,000 documents: PostgreSQL 15.20 with jsonb, Couchbase
/// Lite Core of July 2026, and EJDB2 2.80, each beside the yardstick on one machine, by the clock.
struct Peer {
  let name: String
  /// Its time divided by that of the yardstick.
  let ratio: Double

  static func best(in operation: Operation) -> Peer? {
    switch operation {
    case .q1: Peer(name: "Couchbase Lite", ratio: 6.7)
    case .q2: Peer(name: "Couchbase Lite", ratio: 2.8)
    case .q3: Peer(name: "PostgreSQL", ratio: 0.75)
    case .q4: Peer(name: "PostgreSQL", ratio: 1.13)
    case .q4i: Peer(name: "PostgreSQL", ratio: 1.02)
    case .q5: Peer(name: "Couchbase Lite", ratio: 11.2)
    case .q6a: Peer(name: "Couchbase Lite", ratio: 0.43)
    case .q6b: Peer(name: "PostgreSQL", ratio: 0.34)
    case .q7: Peer(name: "PostgreSQL", ratio: 1.09)
    case .q8: Peer(name: "PostgreSQL", ratio: 21)
    case .load: Peer(name: "PostgreSQL", ratio: 2.68)
    case .loadIndexed: Peer(name: "PostgreSQL", ratio: 0.58)
    case .index: Peer(name: "Couchbase Lite", ratio: 0.78)
    case .update: Peer(name: "PostgreSQL", ratio: 1.02)
    case .maint: Peer(name: "EJDB2", ratio: 0.7)
    case .disk: nil
    }
  }
}
