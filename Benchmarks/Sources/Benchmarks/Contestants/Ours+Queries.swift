import CDTDatastore
import CDTQuery
import JSON

extension Ours {
  func answer(_ request: Request, _ body: (UnsafeRawBufferPointer) -> Void) throws {
    if case .id(let id) = request {
      return try store.documentText(withID: id).withUnsafeBytes(body)
    }
    let results = try find(request)
    if request.wantsIDs {
      for var id in try results.documentIDs { id.withUTF8 { body(UnsafeRawBufferPointer($0)) } }
    } else {
      try results.forEachJSON(body)
    }
  }

  private func find(_ request: Request) throws -> ResultSet {
    switch request {
    case .named(let name, let age, let limit):
      try store.find(["name": .string(name), "age": ["$gte": .int(Int64(age))]], limit: limit ?? 0)
    case .id(let id):
      try store.find(["_id": .string(id)])
    case .oldest(let species):
      try store.find(["pet.species": .string(species)], limit: 50, sort: [["age": "desc"]])
    case .ages(let ages):
      try store.find(["age": ["$gte": .int(Int64(ages.lowerBound)), "$lte": .int(Int64(ages.upperBound))]])
    case .tagged(let tag, let limit):
      try store.find(["tags": .string(tag)], limit: limit ?? 0)
    case .commented(let word, let score, let limit):
      // The words of the workload are lower-case letters, so a word is its own pattern.
      try store.find(
        ["score": ["$gt": .int(Int64(score))], "comment": ["$regex": .string(word)]], limit: limit ?? 0)
    case .namedOrSpecies(let name, let age, let species):
      try store.find([
        "$or": [
          ["name": .string(name), "age": ["$gte": .int(Int64(age))]], ["pet.species": .string(species)],
        ]
      ])
    case .documents(let limit):
      try store.find([:], limit: limit ?? 0)
    case .fresh(let name):
      try store.find(["name": .string(name)])
    }
  }
}
