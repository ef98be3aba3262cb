import CDTDatastore
import CDTJSON
import CDTQuery

extension Ours {
  func answer(_ request: Request, _ body: (UnsafeRawBufferPointer) -> Void) throws {
    if case .id(let id) = request {
      return try store.read { try $0.documentText(withID: id) }.withUnsafeBytes(body)
    }
    let results = try store.results(for: query(for: request))
    if request.wantsIDs {
      for var id in try results.documentIDs() { id.withUTF8 { body(UnsafeRawBufferPointer($0)) } }
    } else {
      try results.forEachJSON(body)
    }
  }

  private func query(for request: Request) throws -> Query {
    switch request {
    case .named(let name, let age, let limit):
      try Query(["name": .string(name), "age": ["$gte": .int(Int64(age))]], limit: limit)
    case .id(let id):
      try Query(["_id": .string(id)])
    case .oldest(let species):
      try Query(["pet.species": .string(species)], limit: 50, sort: [.descending("age")])
    case .ages(let ages):
      try Query(["age": ["$gte": .int(Int64(ages.lowerBound)), "$lte": .int(Int64(ages.upperBound))]])
    case .tagged(let tag, let limit):
      try Query(["tags": .string(tag)], limit: limit)
    case .commented(let word, let score, let limit):
      // The words of the workload are lower-case letters, so a word is its own pattern.
      try Query(
        ["score": ["$gt": .int(Int64(score))], "comment": ["$regex": .string(word)]], limit: limit)
    case .namedOrSpecies(let name, let age, let species):
      try Query([
        "$or": [
          ["name": .string(name), "age": ["$gte": .int(Int64(age))]], ["pet.species": .string(species)],
        ]
      ])
    case .documents(let limit):
      try Query([:], limit: limit)
    case .fresh(let name):
      try Query(["name": .string(name)])
    }
  }
}
