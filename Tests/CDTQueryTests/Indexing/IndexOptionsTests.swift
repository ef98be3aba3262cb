import CDTDatastore
import CDTIndex
import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

@Suite struct IndexOptionsTests {
  /// The options of two indexes, of which only the second has an option, or another value of it.
  private static func pair(_ option: IndexOptions.Name) -> [IndexOptions] {
    switch option {
    case .filter: [IndexOptions(), .where(["a": 1])]
    case .tokenize: [.text, .text(.porter)]
    case .vector: [.vector(3), .vector(4)]
    case .unique: [IndexOptions(), .unique]
    case .collation: [IndexOptions(), .collation(.unicode)]
    case .sum: [IndexOptions(), .summary(of: "n")]
    case .expireAfter: [.expiring(after: .seconds(1)), .expiring(after: .milliseconds(1_500))]
    case .milliseconds:
      [.expiring(after: .seconds(1)), .expiring(after: .seconds(1), milliseconds: true)]
    }
  }

  @Test(arguments: IndexOptions.Name.allCases)
  func `an index with another value of an option is another index`(option: IndexOptions.Name) throws {
    let indexes = try Self.pair(option).map { try IndexDefinition(fields: ["a"], $0) }
    #expect(!indexes[0].isSame(as: indexes[1]))
    #expect(indexes[1].json[option.rawValue] ?? indexes[1].settings[option.rawValue] != nil)
    for index in indexes { #expect(try IndexDefinition(json: index.json) == index) }
  }

  @Test(arguments: IndexOptions.Name.allCases)
  func `an option is read as it was encoded`(option: IndexOptions.Name) throws {
    for options in Self.pair(option) {
      let decoded = try JSONDecoder().decode(IndexOptions.self, from: JSONEncoder().encode(options))
      #expect(decoded == options)
    }
  }

  @Test func `the JSON of options has the members of an index`() {
    #expect(IndexOptions().json.text == #"{"type":"json"}"#)
    #expect(IndexOptions.text.json.text == #"{"type":"text","tokenize":"simple"}"#)
    let options = IndexOptions(where: ["a": 1], sums: ["n"])
    #expect(options.json.text == #"{"type":"json","where":{"a":1},"sum":["n"]}"#)
    #expect(IndexOptions.expiring(after: .milliseconds(1_500)).json["expireAfter"]?.text == "1.5")
  }

  @Test func `decoding refuses an invalid option by its message`() {
    let error = #expect(throws: QueryError.self) {
      try JSONDecoder().decode(IndexOptions.self, from: Data(#"{"unique":1}"#.utf8))
    }
    #expect(error?.description == #"unique: "unique" must be true or false, not a number"#)
  }
}
