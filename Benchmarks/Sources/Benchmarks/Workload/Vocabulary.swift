/// The words that documents and parameters are made of: the same for every number of documents.
struct Vocabulary {
  let names: [String]
  let words: [String]
  let tags: [String]
  let petNames: [String]
  let species = [
    "cat", "dog", "hamster", "rabbit", "parrot", "goldfish", "turtle", "gecko", "ferret", "mouse", "rat",
    "canary",
    "budgie", "snake", "iguana", "pony", "goat", "hen", "duck", "guinea pig",
  ]

  init() {
    var random = LCG(seed: 20_240_607)
    names = Self.words(1_000, syllables: 2, from: &random).map(Self.capitalized)
    words = Self.words(2_000, syllables: 2, from: &random)
    tags = Self.words(50, syllables: 1, from: &random).map { "tag-" + $0 }
    petNames = Self.words(300, syllables: 1, from: &random).map(Self.capitalized)
  }

  private static let consonants = [
    "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "ch", "sh",
    "th", "br",
    "dr", "gr", "kr", "pl", "st", "tr",
  ]
  private static let vowels = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]

  /// Different words of so many syllables, or one more.
  private static func words(_ count: Int, syllables: Int, from random: inout LCG) -> [String] {
    var words: [String] = []
    var seen: Set<String> = []
    while words.count < count {
      var word = ""
      for _ in 0..<syllables + random.below(2) {
        word += random.pick(consonants)
        word += random.pick(vowels)
      }
      if seen.insert(word).inserted { words.append(word) }
    }
    return words
  }

  private static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }
}
