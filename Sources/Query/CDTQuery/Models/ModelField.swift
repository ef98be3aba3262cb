import CDTDatastore
import CDTJSON
import CDTPlatform

/// A property of a model, in the closure of a typed query.
///
/// ```swift
/// let urgent = try store.find(Task.self, where: { $0.priority > 3 && $0.tags.contains("home") }, sort: \.due.descending)
/// let nearby = try store.find(Task.self) { $0.owner.city == "Bern" && !$0.isDone }
/// ```
///
/// Properties of inner models are reached with a dot, also through optionals. Values are compared as they are encoded:
/// a `Date` as its string, an enumeration as its raw value. A wrong name or a value of another type does not compile.
/// A computed property, which documents don't have, is refused with ``QueryError`` and the code `.invalidPath`.
///
/// See <doc:StoringModels#Conditions>.
@dynamicMemberLookup
public struct ModelField<Model, Value>: Sendable {
  /// The path of the value for which a default stands in; empty for the model itself.
  let location: Result<FieldPath, QueryError>
  /// The path from there, into a value that can lack it.
  private var inner = FieldPath(segments: [])
  /// Whether this is a whole document, which has an id and a revision.
  private let isDocument: Bool
  /// Whether the property, or one on the way to it, is optional.
  private(set) var isOptional = false
  /// The value as which a missing one is decoded. See `HasDefaults`.
  private(set) var standIn: JSONValue?
  /// Whether `standIn` also replaces null, as with `??`.
  private(set) var replacesNull = false
  /// The operand of conditions.
  private(set) var compared = ComparedPart.value

  init(isDocument: Bool) {
    self.init(location: .success(FieldPath(segments: [])), isDocument: isDocument)
  }

  private init(location: Result<FieldPath, QueryError>, isDocument: Bool = false) {
    (self.location, self.isDocument) = (location, isDocument)
  }

  /// The field's path.
  var path: Result<FieldPath, QueryError> { location.map { $0.appending(inner) } }

  /// A property of the value.
  func member<Member>(_ property: PartialKeyPath<Value>, isOptional: Bool) -> ModelField<
    Model, Member
  > {
    if Value.self is any AnyReference.Type { return self.as(.documentID) }
    let name = Result { () throws(QueryError) in try PropertyName.of(property, isDocument: isDocument) }
    if let name = try? name.get(), !inner.segments.isEmpty || (isOptional && standIn != nil) {
      return within(name)
    }
    var member = ModelField<Model, Member>(location: location(of: name))
    member.isOptional = self.isOptional || isOptional
    if isDocument, Value.self is any DocumentModel.Type, case .success("_id") = name {
      member.compared = .documentID
    }
    if !member.isOptional, let name = try? name.get() {
      let defaults = Value.self as? any HasDefaults.Type
      member.standIn = (try? defaults?.defaultMember(name)) ?? standIn?.objectValue?[name]
    }
    return member
  }

  private func location(of name: Result<String, QueryError>) -> Result<FieldPath, QueryError> {
    Result { () throws(QueryError) in try path.get().appending(Self.segment(name.get())) }
  }

  private static func segment(_ name: String) -> FieldPath {
    FieldPath(segments: [.init(name: Array(name.utf8))])
  }

  /// The same field, as another type.
  func `as`<Other>(_ compared: ComparedPart) -> ModelField<Model, Other> {
    var field = ModelField<Model, Other>(location: location)
    (field.inner, field.isOptional, field.compared) = (inner, isOptional, compared)
    (field.standIn, field.replacesNull) = (standIn, replacesNull)
    return field
  }

  /// A value inside this one that can be missing, such as that of a dictionary's key.
  func within<Inner>(_ name: String) -> ModelField<Model, Inner> {
    var field: ModelField<Model, Inner> = self.as(.value)
    (field.inner, field.isOptional) = (inner.appending(Self.segment(name)), true)
    return field
  }

  /// The field with a value for nil.
  func replacingNil(_ value: () throws -> JSONValue) -> ModelField {
    guard isOptional else { return self }
    var field = ModelField(location: path)
    do {
      guard compared != .count, standIn == nil else { throw QueryError.replacedTwice(try path.get().text) }
      (field.standIn, field.replacesNull, field.compared) = (try value(), true, compared)
      return field
    } catch {
      return refused(.notEncodable(error, at: (try? path.get().text) ?? ""))
    }
  }

  /// A field whose conditions are refused.
  func refused<Other>(_ error: QueryError) -> ModelField<Model, Other> {
    ModelField<Model, Other>(location: .failure(error))
  }

  /// The path in an object whose `member` is the stand-in.
  var pathInStandIn: String { Self.segment("member").appending(inner).text }

  /// A value, if its order is that of what is stored.
  func ordered<Result>(_ value: () throws -> Result) throws -> Result {
    if compared == .documentID, Value.self != String.self, Value.self != UUID.self {
      throw QueryError.unordered(try path.get().text, Value.self)
    }
    return try value()
  }

  /// The path, if documents have the value.
  var storedPath: Result<FieldPath, QueryError> {
    Result { () throws(QueryError) in
      let path = try path.get()
      if compared == .count { throw .countAsPath(path.text) }
      return path
    }
  }

  /// The path to sort by.
  private var sortedPath: Result<FieldPath, QueryError> {
    Result { () throws(QueryError) in
      let path = try storedPath.get()
      do { return try ordered { path } } catch { throw .notEncodable(error, at: path.text) }
    }
  }

  /// A property.
  public subscript<Member>(dynamicMember property: KeyPath<Value, Member>) -> ModelField<Model, Member> {
    member(property, isOptional: false)
  }

  /// An optional property, as what it wraps.
  public subscript<Member>(dynamicMember property: KeyPath<Value, Member?>) -> ModelField<Model, Member> {
    member(property, isOptional: true)
  }

  /// The value of a dictionary's key.
  public subscript<Member>(key: String) -> ModelField<Model, Member> where Value == [String: Member] {
    within(key)
  }

  /// The condition that a property is true.
  @_disfavoredOverload
  public subscript(dynamicMember property: KeyPath<Value, Bool>) -> QueryCondition<Model> {
    self[dynamicMember: property] as ModelField<Model, Bool> == true
  }

  /// The condition that an optional property is true.
  @_disfavoredOverload
  public subscript(dynamicMember property: KeyPath<Value, Bool?>) -> QueryCondition<Model> {
    self[dynamicMember: property] as ModelField<Model, Bool> == true
  }

  /// A sort by the field, smallest value first.
  public var ascending: SortField { SortField(sortedPath, .ascending) }

  /// A sort by the field, largest value first.
  public var descending: SortField { SortField(sortedPath, .descending) }
}

/// The operand of conditions on a field: the value, the id of a document, or the number of elements.
enum ComparedPart { case value, documentID, count }
