import CDTTestSupport
import Testing

/// Conditions as people write them who come from Swift's `#Predicate` and `filter`: each compiles, or the compiler names the way.
@Suite struct WrittenConditionTests {
  /// Each is right: `ConditionLawTests` compares what they find with Swift.
  static let right = [
    #"["a", "b"].contains($0.title)"#, "tags.contains($0.title)", "Set(tags).contains($0.title)",
    "[.chore, .work].contains($0.kind)", "keys.contains($0.key)", "[Reference(job)].contains($0.before)",
    "(1...2).contains($0.priority)", "(0.5..<2).contains($0.share)", "(2...).contains($0.priority)",
    "(...2).contains($0.priority)", "(..<now).contains($0.due)", "$0.tags.isEmpty", "!$0.tags.isEmpty",
    "$0.tags.count == 2", "$0.tags.count > 2 && $0.isDone", "$0.labels.count >= 1", "$0.labels.isEmpty",
    #"$0.labels == ["a"]"#, #"$0.labels.contains("a")"#, "$0.title.isEmpty", "!$0.title.isEmpty && $0.isDone",
    #"$0.title.hasPrefix("a")"#, #"$0.title.hasSuffix("a")"#, #"$0.title.contains("a")"#,
    "$0.title.contains(text) && $0.isDone", #"$0.tags.contains("a")"#, #"$0.tags.contains("a") == false"#,
    #"$0.tags.first == "x""#, #"$0.tags[0] == "x""#, #"$0.parts.first.name == "x""#,
    "$0.parts.allSatisfy { $0.price > 3 }", "$0.numbers.allSatisfy { $0 > 3 }",
    "$0.numbers.contains { $0 > 3 && $0 < 9 }", #"$0.tags.contains { $0.hasPrefix("x") }"#,
    "($0.due ?? .now) < now", "$0.due ?? .distantPast < now", "$0.isNew ?? false", "!($0.isNew ?? true)",
    "$0.isDone", "!$0.isDone", "$0.isDone == false", "$0.isNew == true", "$0.due == nil", "$0.boss != nil",
    "$0.due > now.addingTimeInterval(-86_400)", "$0.kind == .chore || $0.kind == kind",
    #"$0.kind.rawValue == "chore""#, "$0.state == .open", "$0.state == .closed(3)",
    "isAll ? .all : $0.isDone", "if isAll { .all } else { $0.isDone }",
    "switch kind { case .chore: $0.isDone; case .work: !$0.isDone }", "$0.boss.city == text",
    "$0.before == Reference(job) && $0.before.id == job.id", "$0.before == nil",
    "$0.count > 3 && $0.first == text", "$0.at.near(here)", "$0.at.near(here, within: 500) && $0.isDone",
    "$0.stops.near(here, within: 500)", "$0.at.within(metres: 500, of: here)",
    "!$0.at.within(southWest: here, northEast: here)", "$0.stops.within(polygon: [here, here, here])",
    "$0.vector.near(query, within: 0.3)", "$0.vector.near([1, 0], by: .euclidean)",
    "$0.floats.near([1, 0.5], within: 3, by: .dot)", "$0.at == here",
  ]

  private static let question = "leave out ? and !: $0.owner.name also reaches the name of an optional owner"
  private static let pattern = "use matches(_:) with a pattern that ignores case"
  private static let regex = "use matches(_:) with the pattern as a string"
  private static let left = "write the property on the left, as in $0.age > 3"
  private static let own = "compare the property, without ?, with a value of its own type"
  private static let itself = "compare the property itself, as in $0.price > 3 / 2"
  private static let element = "use contains { } or allSatisfy { } with a condition on an element"
  private static let noValue = "a property has no value here"
  private static let places = "use near(_:within:), or within(metres:of:)"
  private static let bool = "for a Bool write isAll ? .all : $0.age > 3"
  private static let day = "write (today..<tomorrow).contains($0.due)"

  /// What the compiler says of each.
  static let refused = [
    #"$0.boss?.city == "x""#: question, #"$0.boss!.city == "x""#: question, "$0.boss?.zip == nil": bool,
    "$0.boss?.zip != nil && $0.isDone": question, "$0.boss?.zip > 3": question,
    "($0.boss?.zip ?? 0) > 3": question,
    #"$0.boss?.city.hasPrefix("x") == true"#: question, #"$0.boss?.city.hasPrefix("x") ?? false"#: question,
    "$0.words?.isEmpty ?? true": question, "$0.due! < now": question,
    #"$0.parts.first?.name == "x""#: question,
    "$0.due.map { $0 < now } ?? false": question, #"$0.title.lowercased() == "a""#: pattern,
    "$0.title.uppercased() == text": pattern, "$0.title.localizedStandardContains(text)": pattern,
    "$0.title.localizedCaseInsensitiveContains(text)": pattern,
    "$0.title.caseInsensitiveCompare(text) == .orderedSame": pattern, #"$0.title.starts(with: "a")"#: regex,
    "$0.title.contains(/a.c/)": regex, "$0.title.wholeMatch(of: /a.c/) != nil": regex,
    "$0.title.count > 3": "use matches(_:), as in", #"$0.tags.last == "x""#: "use first or contains { }",
    "$0.parts.filter { $0.price > 3 }.count > 1": element, #"$0.parts.map(\.name).contains("x")"#: element,
    "$0.numbers.max() > 3": element, "$0.priority == $0.count": own, "$0.title < $0.first": own,
    #"$0.priority == "3""#: own, "$0.due < later": own, "$0.before == job": own,
    "$0.priority * 2 > 3": itself,
    "$0.priority % 2 == 0": itself, "nil == $0.due": left, "5 < $0.priority": left, "text == $0.title": left,
    "now >= $0.due && $0.isDone": left, "$0.isDone ? $0.priority > 3 : $0.priority < 2": noValue,
    "if $0.isDone { $0.priority > 3 } else { .all }": noValue, "$0.isDone == !$0.isNew": own,
    "$0.kind is Kind": bool, "isAll || $0.isDone": bool, "_ in isAll": bool,
    "$0.before.title == text": "a reference has only an id",
    "$0.before.title != text && $0.isDone": "a reference has only an id",
    #"$0.title == "a" ? true : false"#: bool, "$0.isDone || isAll": bool, "$0.isDone == true && isAll": bool,
    #"$0.title == "a" ? $0.isDone : .all"#: noValue, "$0.share > 3 ? $0.isDone : .all": noValue,
    #"if $0.title == "a" { .all } else { $0.isDone }"#: noValue,
    #""a" ~= $0.title"#: noValue, "1...3 ~= $0.share": noValue,
    #"switch $0.title { case "a": .all; default: !.all }"#: noValue,
    "switch $0.kind { case .chore: .all; default: !.all }": noValue,
    "switch $0.share { case 1...3: .all; default: !.all }": noValue,
    "$0.numbers.reduce(0, +) > 3": element, "$0.parts.reduce(into: 0) { $0 += $1.price } > 3": element,
    "Calendar.current.isDate($0.due, inSameDayAs: now)": day, "Calendar.current.isDateInToday($0.due)": day,
    "Calendar.current.isDate($0.due, equalTo: now, toGranularity: .month)": day,
    "Calendar.current.startOfDay(for: $0.due) == now": day,
    "Calendar.current.component(.year, from: $0.due) == 2026": day,
    "$0.inside.title == text": "store a Reference to it",
    "$0.maybeInside.title == text": "store a Reference to it",
    "$0.at.distance(to: here) < 500": places, "$0.at.distance(from: here) <= 500.0": places,
    "$0.at.longitude > 8": "use near(_:within:) or within(metres:of:): a place has no other conditions",
    "$0.vector.distance(to: query) < 0.3": "use near(_:within:by:)",
    "$0.vector.cosineSimilarity(to: query) > 0.7": "use near(_:within:by:)",
  ]

  @Test func `a condition as people write it compiles, or has an error that names the way`() throws {
    func snippet(_ condition: String) -> String { "store.find(Job.self) { \(condition) }" }
    #expect(Self.right.count + Self.refused.count >= 60)
    #expect(try SnippetTests.check(Self.right.map(snippet)) == [:])
    let errors = try SnippetTests.check(Self.refused.keys.map(snippet))
    for (condition, message) in Self.refused {
      let found = errors[snippet(condition)] ?? []
      #expect(found.contains { $0.contains(message) }, "\(condition): \(found)")
      #expect(!found.contains { $0.contains("failed to produce diagnostic") }, "\(condition)")
    }
  }

  @Test func `references are included without a type`() throws {
    let valid = [
      "ModelQuery(Job.self).including(\\.before).including(\\.others).including(\\.title, as: Job.self)",
      "let documents = { (linked: Linked<Job>) in linked[job.before] ?? linked[job.id] ?? linked[text] }",
    ]
    #expect(try SnippetTests.check(valid) == [:])
  }
}
