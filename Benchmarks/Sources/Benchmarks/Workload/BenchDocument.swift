/// A document of the workload, about 303 bytes as JSON:
///
/// ```json
/// {"_id":"doc-000001","name":"Chaikea","age":36,"docNumber":1,"pet":{"species":"cat","name":"Zo"},
///  "tags":["tag-ba","tag-ku","tag-dro"],"score":123.4565,"created":"2017-03-09T12:00:59Z","comment":"…"}
/// ```
struct BenchDocument {
  let number: Int
  var name: String
  var age: Int
  let species: String
  let petName: String
  var tags: [String]
  var score: Score
  let created: String
  let comment: String

  /// Draws a document. The order of the draws is the workload's definition.
  init(number: Int, _ vocabulary: Vocabulary, from random: inout LCG) {
    var tags: [String] = []
    while tags.count < 3 {
      let tag = random.pick(vocabulary.tags)
      if !tags.contains(tag) { tags.append(tag) }
    }
    self.number = number
    self.tags = tags
    name = random.pick(vocabulary.names)
    age = random.below(100)
    species = random.pick(vocabulary.species)
    petName = random.pick(vocabulary.petNames)
    score = Score(from: &random)
    created = Self.date(from: &random)
    comment = (0..<12).map { _ in random.pick(vocabulary.words) }.joined(separator: " ")
  }

  static func id(_ number: Int) -> String { "doc-" + padded(number, to: 6) }

  private static func date(from random: inout LCG) -> String {
    let year = padded(10 + random.below(15), to: 2)
    let month = padded(1 + random.below(12), to: 2)
    let day = padded(1 + random.below(28), to: 2)
    let hour = padded(random.below(24), to: 2)
    let minute = padded(random.below(60), to: 2)
    let second = padded(random.below(60), to: 2)
    return "20\(year)-\(month)-\(day)T\(hour):\(minute):\(second)Z"
  }

  /// The compact JSON text. No string in it needs an escape.
  var json: String {
    let tags = tags.map { "\"\($0)\"" }.joined(separator: ",")
    return """
      {"_id":"\(Self.id(number))","name":"\(name)","age":\(age),"docNumber":\(number),\
      "pet":{"species":"\(species)","name":"\(petName)"},"tags":[\(tags)],"score":\(score),\
      "created":"\(created)","comment":"\(comment)"}
      """
  }
}

/// A number of four decimals below 1,000, the last of them a 5, as the shortest text that reads back as it.
struct Score: CustomStringConvertible {
  private let thousandths: Int

  init(from random: inout LCG) {
    thousandths = random.below(1_000_000)
  }

  var description: String { "\(thousandths / 1_000).\(padded(thousandths % 1_000, to: 3))5" }
}

private func padded(_ number: Int, to width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
