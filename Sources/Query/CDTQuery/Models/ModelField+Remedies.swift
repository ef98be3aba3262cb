// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CDTDatastore
public import CDTPlatform

// What a selector can't express, as people write it in Swift. None of these declarations can be used: the message of the compiler names
// the remedy, in place of an error about types.

@available(*, unavailable, message: "use matches(_:) with a pattern that ignores case, as in \"(?i)^anna$\"")
extension ModelField where Value == String {
  public func lowercased() -> ModelField { self }
  public func uppercased() -> ModelField { self }
  public func localizedStandardContains(_ part: some StringProtocol) -> QueryCondition<Model> { .all }
  public func localizedCaseInsensitiveContains(_ part: some StringProtocol) -> QueryCondition<Model> { .all }
  public func caseInsensitiveCompare(_ other: some StringProtocol) -> ModelField<Model, ComparisonResult> {
    self.as(.value)
  }
}

@available(*, unavailable, message: "use matches(_:) with the pattern as a string, or hasPrefix(_:)")
extension ModelField where Value == String {
  public func starts(with prefix: some StringProtocol) -> QueryCondition<Model> { .all }
  public func contains(_ regex: some RegexComponent) -> QueryCondition<Model> { .all }
  public func firstMatch(of regex: some RegexComponent) -> ModelField { self }
  public func wholeMatch(of regex: some RegexComponent) -> ModelField { self }
}

@available(*, unavailable, message: "use matches(_:) with a pattern that ignores case, as in \"(?i)^anna$\"")
extension ModelField where Value == ComparisonResult {
  public static func == (field: ModelField, value: ComparisonResult) -> QueryCondition<Model> { .all }
}

// Deprecated, since the compiler would rather take Swift's property than one that is unavailable. The query is refused.
@available(*, deprecated, message: "use matches(_:), as in \"(?s)^.{3,}$\" for three characters or more")
extension ModelField where Value == String {
  public var count: ModelField<Model, Int> { refused(.notAnArray(Value.self)) }
}

@available(*, deprecated, message: "use first or contains { }, or store the last element as a property")
extension ModelField where Value: BidirectionalCollection {
  public var last: ModelField<Model, Value.Element> { refused(.notAnArray(Value.self)) }
}

@available(*, unavailable, message: "use contains { } or allSatisfy { } with a condition on an element")
extension ModelField where Value: Sequence {
  public typealias Element = ModelField<Value.Element, Value.Element>

  public func filter(_: (Element) -> QueryCondition<Value.Element>) -> ModelField { self }
  public func first(where _: (Element) -> QueryCondition<Value.Element>) -> ModelField { self }
  public func map<Member>(_: KeyPath<Value.Element, Member>) -> ModelField<Model, [Member]> {
    self.as(.value)
  }
  public func reduce<T>(_: T, _: (T, Value.Element) -> T) -> ModelField<Model, T> { self.as(.value) }
  public func reduce<T>(into _: T, _: (inout T, Value.Element) -> Void) -> ModelField<Model, T> {
    self.as(.value)
  }
  public func max() -> ModelField<Model, Value.Element> { self.as(.value) }
  public func min() -> ModelField<Model, Value.Element> { self.as(.value) }
}

@available(*, unavailable, message: "use near(_:within:), or within(metres:of:) if the order is another")
extension ModelField where Value: PlaceValue {
  public func distance(to _: GeoPoint) -> ModelField<Model, Double> { self.as(.value) }
  public func distance(from _: GeoPoint) -> ModelField<Model, Double> { self.as(.value) }
}

@available(
  *, deprecated, message: "use near(_:within:) or within(metres:of:): a place has no other conditions"
)
extension ModelField where Value == GeoPoint {
  public subscript(dynamicMember property: KeyPath<GeoPoint, Double>) -> ModelField<Model, Double> {
    member(property, isOptional: false)
  }
}

@available(*, unavailable, message: "use near(_:within:by:), which also orders the results")
extension ModelField where Value: RandomAccessCollection, Value.Element: BinaryFloatingPoint {
  public func distance(to _: Value) -> ModelField<Model, Double> { self.as(.value) }
  public func cosineSimilarity(to _: Value) -> ModelField<Model, Double> { self.as(.value) }
}

@available(*, unavailable, message: "leave the sort out: a query with near(_:) has the nearest results first")
extension ModelField where Value: PlaceValue {
  public var distance: SortField { SortField("") }
}

@available(*, unavailable, message: "leave the sort out: a query with near(_:) has the nearest results first")
extension ModelField where Value: RandomAccessCollection, Value.Element: BinaryFloatingPoint {
  public var distance: SortField { SortField("") }
}

@available(
  *, unavailable, message: "leave out ? and !: $0.owner.name also reaches the name of an optional owner"
)
extension ModelField {
  @_disfavoredOverload
  public subscript<Member>(dynamicMember _: KeyPath<Value, Member?>) -> ModelField<Model, Member>? { nil }
  public func map(_: (ModelField) -> QueryCondition<Model>) -> QueryCondition<Model>? { nil }
}

@available(
  *, unavailable, message: "a property has no value here: write ($0.isNew && $0.age > 3) || !$0.isNew"
)
extension ModelField {
  @_disfavoredOverload
  public subscript(dynamicMember _: KeyPath<Value, Bool>) -> Bool { false }
  @_disfavoredOverload public static func == (field: ModelField, value: Value) -> Bool { false }
  @_disfavoredOverload public static func != (field: ModelField, value: Value) -> Bool { false }
  @_disfavoredOverload public static func > (field: ModelField, value: Value) -> Bool { false }
}

@available(
  *, unavailable, message: "a property has no value here: write $0.age == 3, or (1...3).contains($0.age)"
)
extension ModelField {
  public static func ~= (pattern: Value, field: ModelField) -> Bool { false }
  public static func ~= <Pattern>(pattern: Pattern, field: ModelField) -> Bool { false }
  public static func ~= <Pattern>(pattern: Pattern, field: ModelField) -> QueryCondition<Model> { .all }
}

@available(
  *, unavailable,
  message:
    "write (today..<tomorrow).contains($0.due), with dates of startOfDay(for:) and date(byAdding:value:to:)"
)
extension Calendar {
  public func isDate<M>(_: ModelField<M, Date>, inSameDayAs _: Date) -> QueryCondition<M> { .all }
  public func isDate<M>(
    _: ModelField<M, Date>, equalTo _: Date, toGranularity _: Component
  ) -> QueryCondition<M> { .all }
  public func isDateInToday<M>(_: ModelField<M, Date>) -> QueryCondition<M> { .all }
  public func startOfDay<M>(for date: ModelField<M, Date>) -> ModelField<M, Date> { date }
  public func component<M>(_: Component, from date: ModelField<M, Date>) -> ModelField<M, Int> {
    date.as(.value)
  }
}

// In place of the properties of its model, a reference has `Never`.
@available(
  *, unavailable, message: "a reference has only an id: find the people first, then compare the references"
)
extension ModelField where Value == Never {
  public static func == <Other>(field: ModelField, value: Other) -> QueryCondition<Model> { .all }
  public static func != <Other>(field: ModelField, value: Other) -> QueryCondition<Model> { .all }
}

@available(
  *, deprecated, message: "a model inside a model is a copy, which is not saved; store a Reference to it"
)
extension ModelField {
  public subscript<Member: DocumentModel>(dynamicMember property: KeyPath<Value, Member>)
    -> ModelField<Model, Member>
  { member(property, isOptional: false) }
  public subscript<Member: DocumentModel>(dynamicMember property: KeyPath<Value, Member?>)
    -> ModelField<Model, Member>
  { member(property, isOptional: true) }
}

@available(*, unavailable, message: "write the property on the left, as in $0.age > 3")
extension ModelField {
  public static func == (value: Value?, field: ModelField) -> QueryCondition<Model> { .all }
  public static func != (value: Value?, field: ModelField) -> QueryCondition<Model> { .all }
  public static func < (value: Value?, field: ModelField) -> QueryCondition<Model> { .all }
  public static func <= (value: Value?, field: ModelField) -> QueryCondition<Model> { .all }
  public static func > (value: Value?, field: ModelField) -> QueryCondition<Model> { .all }
  public static func >= (value: Value?, field: ModelField) -> QueryCondition<Model> { .all }
}

@available(
  *, unavailable, message: "compare the property itself, as in $0.price > 3 / 2, or store the result"
)
extension ModelField {
  @_disfavoredOverload public static func + <Other>(field: ModelField, value: Other) -> ModelField { field }
  @_disfavoredOverload public static func - <Other>(field: ModelField, value: Other) -> ModelField { field }
  @_disfavoredOverload public static func * <Other>(field: ModelField, value: Other) -> ModelField { field }
  @_disfavoredOverload public static func / <Other>(field: ModelField, value: Other) -> ModelField { field }
  @_disfavoredOverload public static func % <Other>(field: ModelField, value: Other) -> ModelField { field }
}

// On `Optional`, also for a property that is reached with a question mark.
@available(
  *, unavailable,
  message: "compare the property, without ?, with a value of its own type, which for < and > is not optional"
)
extension Optional {
  public static func == <M, V, Other>(field: Wrapped?, value: Other) -> QueryCondition<M>
  where Wrapped == ModelField<M, V> { .all }
  public static func != <M, V, Other>(field: Wrapped?, value: Other) -> QueryCondition<M>
  where Wrapped == ModelField<M, V> { .all }
  public static func < <M, V, Other>(field: Wrapped?, value: Other) -> QueryCondition<M>
  where Wrapped == ModelField<M, V> { .all }
  public static func <= <M, V, Other>(field: Wrapped?, value: Other) -> QueryCondition<M>
  where Wrapped == ModelField<M, V> { .all }
  public static func > <M, V, Other>(field: Wrapped?, value: Other) -> QueryCondition<M>
  where Wrapped == ModelField<M, V> { .all }
  public static func >= <M, V, Other>(field: Wrapped?, value: Other) -> QueryCondition<M>
  where Wrapped == ModelField<M, V> { .all }
  public static func ?? <M, V>(field: Wrapped?, value: V) -> ModelField<M, V>
  where Wrapped == ModelField<M, V> { ModelField(isDocument: false) }
  public static func == <M, V>(field: Wrapped?, none: _OptionalNilComparisonType) -> QueryCondition<M>
  where Wrapped == ModelField<M, V> { .all }
  public static func != <M, V>(field: Wrapped?, none: _OptionalNilComparisonType) -> QueryCondition<M>
  where Wrapped == ModelField<M, V> { .all }
}

@available(
  *, unavailable, message: "leave out ?, and ?? with it: a condition on a missing value does not hold"
)
extension Optional {
  public static func ?? <M>(condition: Wrapped?, holds: Bool) -> QueryCondition<M>
  where Wrapped == QueryCondition<M> { .all }
  public static func == <M>(condition: Wrapped?, holds: Bool) -> QueryCondition<M>
  where Wrapped == QueryCondition<M> { .all }
}
