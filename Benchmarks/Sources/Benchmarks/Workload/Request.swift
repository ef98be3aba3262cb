/// One question of the workload, with its parameters.
enum Request: Hashable {
  /// q1: name = X and age ≥ Y, whole documents.
  case named(String, minimumAge: Int, limit: Int?)
  /// q2: one document by its id.
  case id(String)
  /// q3: pet.species = X, the 50 oldest, whole documents.
  case oldest(species: String)
  /// q4, q4i: the ids of those with an age in a range.
  case ages(ClosedRange<Int>)
  /// q5: tags contains X, whole documents.
  case tagged(String, limit: Int?)
  /// q6a, q6b: score > X and a word in the comment, whole documents.
  case commented(String, above: Int, limit: Int?)
  /// q7: the ids of (name = X and age ≥ Y) or pet.species = Z.
  case namedOrSpecies(String, minimumAge: Int, species: String)
  /// q8: so many whole documents.
  case documents(limit: Int?)
  /// The second part of maint: name = X, whole documents.
  case fresh(String)

  /// Whether the answer is ids; otherwise it is whole documents.
  var wantsIDs: Bool {
    switch self {
    case .ages, .namedOrSpecies: true
    default: false
    }
  }

  /// Whether the order of the answer is part of the question.
  var isOrdered: Bool {
    if case .oldest = self { true } else { false }
  }

  /// The question without its limit, or `nil` when it has none that leaves a choice of answers.
  var unlimited: Request? {
    switch self {
    case .named(let name, let age, .some): .named(name, minimumAge: age, limit: nil)
    case .tagged(let tag, .some): .tagged(tag, limit: nil)
    case .commented(let word, let score, .some): .commented(word, above: score, limit: nil)
    case .documents(.some): .documents(limit: nil)
    default: nil
    }
  }
}
