import CDTJSON
import Foundation
import Testing

/// Members that are missing and have a default.
@Suite struct DefaultsTests {
  struct Settings: Codable, Equatable, HasDefaults {
    var volume: Int
    var isLoud = true
    static let defaults: JSONObject = ["isLoud": true]
  }

  enum Source: Codable, Equatable {
    case web(String)
    case family
  }

  struct Recipe: Codable, Equatable, HasDefaults {
    var title: String
    var isFavorite = false
    var made: Date? = .distantPast
    var changed = Date(timeIntervalSince1970: 0)
    var settings = Settings(volume: 3)
    var others: [Settings] = []
    var counts = ["a": 1]
    var source = Source.family
    enum CodingKeys: String, CodingKey {
      case title, isFavorite = "favorite", made, changed, settings, others, counts, source
    }
    static let defaults = Recipe(title: "")
  }

  private static func recipe(_ json: String, _ options: JSONCodingOptions = .init()) throws -> Recipe {
    try JSONValue(parsing: json).decode(options: options)
  }

  @Test func `a missing member has its default, and a missing optional is nil`() throws {
    var expected = Recipe(title: "Soup", made: nil)
    #expect(try Self.recipe(#"{"title":"Soup"}"#) == expected)
    #expect(try Self.recipe(#"{"title":"Soup"}"#, JSONCodingOptions(dates: .secondsSince1970)) == expected)
    expected.isFavorite = true
    #expect(try Self.recipe(#"{"title":"Soup","favorite":true}"#) == expected)
  }

  @Test func `members that are there are taken as they are`() throws {
    let json =
      #"{"title":"Soup","counts":{"b":2},"source":{"web":{"_0":"x"}},"others":[{"volume":1}],"settings":{"volume":7}}"#
    let recipe = try Self.recipe(json)
    #expect(recipe.counts == ["b": 2] && recipe.source == .web("x"))
    #expect(recipe.others == [Settings(volume: 1)] && recipe.settings == Settings(volume: 7))
    for json in [#"{"title":null}"#, #"{"title":"a","favorite":null}"#, #"{"title":"a","settings":5}"#] {
      #expect(throws: DecodingError.self) { try Self.recipe(json) }
    }
  }

  @Test func `a member without a default is missing`() throws {
    let error = #expect(throws: DecodingError.self) {
      try Self.recipe(#"{"title":"Soup","settings":{"isLoud":false}}"#)
    }
    guard case .keyNotFound(let key, let context)? = error else { return #expect(error == nil) }
    #expect(key.stringValue == "volume" && context.codingPath.map(\.stringValue) == ["settings"])
  }
}
