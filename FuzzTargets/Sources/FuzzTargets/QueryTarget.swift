import CDTDatastore
import CDTJSON
import CDTQuery

/// A selector or a request: a store with indexes finds what the matcher finds in memory.
enum QueryTarget {
  private static let sample = Sample.indexed()

  static func run(_ input: [UInt8]) throws {
    let query = try Query(parsing: String(decoding: input, as: UTF8.self))
    check(query, sample)
  }

  static func check(_ query: Query, _ sample: Sample) {
    let found = resultOrError { try sample.store.read { try $0.find(query) } }
    let wanted = resultOrError { try query.find(in: sample.documents, textIndex: sample.textIndex) }
    guard let found, let wanted else { return }
    if query.sort.isEmpty, query.skip > 0 || query.limit != nil {
      expectEqual(found.count, wanted.count, "the number of results")
    } else {
      // A sort leaves the order of equal documents open.
      expectEqual(found.map(\.id).sorted(), wanted.map(\.id).sorted(), "the results")
    }
  }
}

/// A search: the text index finds what the matcher finds in memory.
enum TextTarget {
  private static let sample = Sample.indexed()

  static func run(_ input: [UInt8]) throws {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    if let search = try? TextSearch(text), let again = try? TextSearch(text) {
      expectEqual(again, search, "the same search again")
    }
    QueryTarget.check(Query(try QuerySelector(["$text": ["$search": .string(text)]])), sample)
  }
}
