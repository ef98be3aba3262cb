extension Yardstick {
  func answer(_ request: Request, _ body: (UnsafeRawBufferPointer) -> Void) throws {
    try bound(request).forEach(body)
  }

  /// The statement of a request, with its parameters.
  private func bound(_ request: Request) throws -> SQLStatement {
    let statement: SQLStatement
    switch request {
    case .named(let name, let age, let limit):
      statement = try self.statement(.named)
      statement.bind(name, at: 1)
      statement.bind(age, at: 2)
      statement.bind(limit ?? -1, at: 3)
    case .id(let id):
      statement = try self.statement(.id)
      statement.bind(id, at: 1)
    case .oldest(let species):
      statement = try self.statement(.oldest)
      statement.bind(species, at: 1)
    case .ages(let ages):
      statement = try self.statement(.ages)
      statement.bind(ages.lowerBound, at: 1)
      statement.bind(ages.upperBound, at: 2)
    case .tagged(let tag, let limit):
      statement = try self.statement(.tagged)
      statement.bind(tag, at: 1)
      statement.bind(limit ?? -1, at: 2)
    case .commented(let word, let score, let limit):
      statement = try self.statement(.commented)
      statement.bind(score, at: 1)
      statement.bind(word, at: 2)
      statement.bind(limit ?? -1, at: 3)
    case .namedOrSpecies(let name, let age, let species):
      statement = try self.statement(.namedOrSpecies)
      statement.bind(name, at: 1)
      statement.bind(age, at: 2)
      statement.bind(species, at: 3)
    case .documents(let limit):
      statement = try self.statement(.documents)
      statement.bind(limit ?? -1, at: 1)
    case .fresh(let name):
      statement = try self.statement(.fresh)
      statement.bind(name, at: 1)
    }
    return statement
  }
}
