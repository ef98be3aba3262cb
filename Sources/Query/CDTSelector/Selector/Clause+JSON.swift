package import CDTJSON

// A clause as a selector, for `explain` and for failing tests.
extension Clause {
  /// A selector equivalent to the clause.
  ///
  /// ```swift
  /// try QuerySelector(parsing: #"{"age": {"$gt": 3}, "pet": {"species": "cat"}}"#).clause.selector
  /// // {"$and": [{"age": {"$gt": 3}}, {"pet.species": {"$eq": "cat"}}]}
  /// ```
  package var selector: JSONObject {
    switch self {
    case .always: [:]
    case .never: ["$or": []]
    case .and(let clauses): ["$and": .array(clauses.map { .object($0.selector) })]
    case .or(let clauses): ["$or": .array(clauses.map { .object($0.selector) })]
    case .not(.field(let path, let predicate)):
      JSONObject([(path.text, .object(["$not": .object(predicate.operators)]))])
    case .not(.value(let predicate)): ["$not": .object(predicate.operators)]
    case .not(let clause): ["$not": .object(clause.selector)]
    case .field(let path, let predicate): JSONObject([(path.text, .object(predicate.operators))])
    case .text(let search): ["$text": ["$search": .string(search.text)]]
    case .value(let predicate): predicate.operators
    case .rule(.annotated(let clause, _, _)), .rule(.guarded(let clause)): clause.selector
    case .rule(.conditional(let condition, let then, let otherwise)):
      [
        "$if": .object(condition.selector), "$then": .object(then.selector),
        "$else": .object(otherwise.selector),
      ]
    }
  }

  /// A clause about an element itself, as operators in one object, in which a key can occur only once: 1 and 2 are
  /// `{"$eq": 1, "$not": {"$not": {"$eq": 2}}}`.
  fileprivate var elementOperators: JSONObject {
    switch self {
    case .always: ["$nin": []]
    case .never: ["$in": []]
    case .and(let clauses): Self.merged(clauses)
    case .not(.value(.equal(let value))): ["$ne": value]
    case .not(.value(.among(let members))): ["$nin": .array(members)]
    case .not(.value(.exists)): ["$exists": false]
    case .not(let clause): ["$not": .object(clause.elementOperators)]
    case .rule(.annotated(let clause, _, _)), .rule(.guarded(let clause)): clause.elementOperators
    case .rule(.conditional(let condition, let then, let otherwise)):
      [
        "$if": .object(condition.elementOperators), "$then": .object(then.elementOperators),
        "$else": .object(otherwise.elementOperators),
      ]
    case .or, .field, .text, .value: selector
    }
  }

  private static func merged(_ clauses: [Clause]) -> JSONObject {
    var merged = JSONObject()
    var complements: [Clause] = []
    var others: [Clause] = []
    for clause in clauses {
      let operators = clause.elementOperators
      if operators["$not"] != nil {
        complements.append(clause)
      } else if operators.contains(where: { merged[$0.key] != nil }) {
        others.append(clause)
      } else {
        for (key, value) in operators { merged[key] = value }
      }
    }
    if !others.isEmpty {
      merged["$not"] = ["$not": .object(Self.merged(others + complements))]
    } else if let complement = complements.first {
      for (key, value) in complement.elementOperators { merged[key] = value }
    }
    return merged
  }
}

extension ElementCondition {
  fileprivate var selector: JSONObject {
    switch self {
    case .fields(let clause): clause.selector
    case .operators(let clause): clause.elementOperators
    }
  }
}

extension Predicate {
  /// The predicate as an operator with its argument.
  package var operators: JSONObject {
    switch self {
    case .equal(let value): ["$eq": value]
    case .compare(let comparison, let value): JSONObject([(comparison.rawValue, value)])
    case .among(let members): ["$in": .array(members)]
    case .exists: ["$exists": true]
    case .notNull: ["$gt": nil]
    case .type(let type): ["$type": .string(type.rawValue)]
    case .modulo(let modulo): ["$mod": .array([modulo.divisorValue, modulo.remainderValue])]
    case .size(let size): ["$size": .int(Int64(size))]
    case .beginsWith(let prefix): ["$beginsWith": .string(prefix)]
    case .regex(let expression):
      expression.options.isEmpty
        ? ["$regex": .string(expression.pattern)]
        : ["$regex": .string(expression.pattern), "$options": .string(expression.options)]
    case .near(let near): ["$near": .object(near.json)]
    case .within(let region): ["$geoWithin": .object(region.json)]
    case .elementMatches(let condition): ["$elemMatch": .object(condition.selector)]
    case .allElementsMatch(let condition): ["$allMatch": .object(condition.selector)]
    case .keyMatches(let clause): ["$keyMapMatch": .object(clause.elementOperators)]
    case .computed(let computed): JSONObject([(computed.name, computed.operand.json)])
    case .collated(let predicate, _): predicate.operators
    }
  }
}
