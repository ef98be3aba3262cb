public import CDTJSON

/// A change of one field, for `update(matching:_:)` of a transaction.
///
/// A path is that of a query: `pet.species`, or `pets.0` for an element of an array. A missing member on the way is created as an
/// object.
///
/// ```swift
/// let changes: [FieldChange] = [.set("status", "done"), .increment("edits"), .append("tags", "archived")]
/// ```
public struct FieldChange: Sendable, Hashable {
  private enum Kind: Hashable {
    case set(JSONValue)
    case unset
    case rename(to: String)
    case increment(JSONValue)
    case append(JSONValue)
    case remove(JSONValue)
  }

  private let kind: Kind
  private let path: String

  private init(_ path: String, _ kind: Kind) {
    (self.path, self.kind) = (path, kind)
  }

  /// Assigns a value.
  public static func set(_ path: String, _ value: some JSONConvertible) -> FieldChange {
    FieldChange(path, .set(value.jsonValue))
  }

  /// Removes the field, if the document has it: `a.b` changes nothing where `a` is a number.
  public static func unset(_ path: String) -> FieldChange {
    FieldChange(path, .unset)
  }

  /// Moves the value to another path, as MongoDB's `$rename` does: a value that is there is replaced, and a document without the
  /// field stays as it is.
  ///
  /// ```swift
  /// try store.write { try $0.update(matching: [:], .rename("stat", to: "state"), .rename("city", to: "address.city")) }
  /// ```
  public static func rename(_ path: String, to newPath: String) -> FieldChange {
    FieldChange(path, .rename(to: newPath))
  }

  /// Adds to a number; a missing one is 0.
  public static func increment(_ path: String, by amount: some JSONConvertible = 1) -> FieldChange {
    FieldChange(path, .increment(amount.jsonValue))
  }

  /// Adds an element at the end of an array; a missing one is empty.
  public static func append(_ path: String, _ element: some JSONConvertible) -> FieldChange {
    FieldChange(path, .append(element.jsonValue))
  }

  /// Removes the elements of an array that equal a value, if there is one.
  public static func remove(_ path: String, _ element: some JSONConvertible) -> FieldChange {
    FieldChange(path, .remove(element.jsonValue))
  }

  // MARK: Applying

  /// The changes with their paths read.
  struct Program {
    private let steps: [(change: FieldChange, names: [FieldPath.Segment])]

    /// - Throws: ``QueryError`` for a malformed path, for one of a document's own fields, for an amount that is not a number, and for
    ///   a new path in the old one, or around it.
    init(_ changes: [FieldChange]) throws(QueryError) {
      var steps: [(FieldChange, [FieldPath.Segment])] = []
      for change in changes {
        let names = try change.fieldPath.segments
        steps.append((change, names))
        if case .rename(let newPath) = change.kind {
          let newNames = try FieldChange.unset(newPath).fieldPath.segments
          guard !zip(names, newNames).allSatisfy({ $0 == $1 }) else {
            throw QueryError(.overlappingRename(newPath), at: change.path)
          }
        }
        if case .increment(let amount) = change.kind, amount.doubleValue == nil {
          throw QueryError(.invalidAmount(amount), at: change.path)
        }
      }
      self.steps = steps
    }

    func apply(to body: inout JSONObject, id: String) throws(QueryError) {
      for (change, names) in steps {
        guard case .rename(let newPath) = change.kind else {
          try Self.apply(change, names, to: &body, id)
          continue
        }
        guard let value = Self.value(at: names, in: body) else { continue }
        let setting = FieldChange.set(newPath, value)
        try Self.apply(.unset(change.path), names, to: &body, id)
        try Self.apply(setting, setting.fieldPath.segments, to: &body, id)
      }
    }

    private static func apply(
      _ change: FieldChange, _ names: [FieldPath.Segment], to body: inout JSONObject, _ id: String
    ) throws(QueryError) {
      do throws(Misfit) {
        let changed = try change.apply(to: .object(body), names[...])
        if case .object(let object)? = changed { body = object }
      } catch {
        throw QueryError(.misfit(error.message, documentID: id), at: change.path)
      }
    }

    private static func value(at names: [FieldPath.Segment], in body: JSONObject) -> JSONValue? {
      names.reduce(JSONValue?.some(.object(body))) { value, segment in
        if case .array? = value { return segment.position.flatMap { value?[$0] } }
        return value?[String(decoding: segment.name, as: UTF8.self)]
      }
    }
  }

  private var fieldPath: FieldPath {
    get throws(QueryError) {
      let found: FieldPath
      do throws(FieldPath.Fault) { found = try FieldPath(path) } catch {
        throw QueryError(.invalidPath(path, error), at: path)
      }
      guard found.segments.first?.name.first != UInt8(ascii: "_") else {
        throw QueryError(.reservedField, at: path)
      }
      return found
    }
  }

  /// Whether nothing is to do where there is no such field.
  private var takesAway: Bool {
    switch kind {
    case .unset, .remove, .rename: true
    case .set, .increment, .append: false
    }
  }

  /// The error of a change that does not fit a document.
  private struct Misfit: Error {
    let message: String
  }

  /// The value with the change applied below it; `nil` to remove it.
  private func apply(
    to value: JSONValue?, _ names: ArraySlice<FieldPath.Segment>
  ) throws(Misfit) -> JSONValue? {
    guard let segment = names.first else { return try applied(to: value) }
    let (name, rest) = (String(decoding: segment.name, as: UTF8.self), names.dropFirst())
    switch value {
    case .object(var object)?:
      object[name] = try apply(to: object[name], rest)
      return .object(object)
    case .array(var array)?:
      guard let position = segment.position, array.indices.contains(position) else {
        if takesAway { return value }
        throw Misfit(message: "the array has no element \"\(name)\"; give a position from 0, or append")
      }
      guard let element = try apply(to: array[position], rest) else {
        throw Misfit(message: "an element of an array can't be unset; use remove")
      }
      array[position] = element
      return .array(array)
    case nil:
      return try apply(to: nil, rest).map { [name: $0] }
    case let other?:
      if takesAway { return other }
      throw Misfit(message: "\(other.typeWithArticle) has no field \"\(name)\"; set the field above it")
    }
  }

  private func applied(to value: JSONValue?) throws(Misfit) -> JSONValue? {
    switch (kind, value) {
    case (.set(let new), _): return new
    case (.unset, _): return nil
    // `Program` makes it by unset and set.
    case (.rename, _): return value
    case (.increment(let amount), nil): return amount
    case (.increment(let amount), let number?): return try Self.sum(number, amount)
    case (.append(let element), nil): return .array([element])
    case (.append(let element), .array(let array)?): return .array(array + [element])
    case (.remove, nil): return nil
    case (.remove(let element), .array(let array)?): return .array(array.filter { $0 != element })
    case (.append, let other?), (.remove, let other?):
      throw Misfit(message: "the field is \(other.typeWithArticle), not an array; set it to one first")
    }
  }

  private static func sum(_ number: JSONValue, _ amount: JSONValue) throws(Misfit) -> JSONValue {
    guard let left = number.doubleValue, let right = amount.doubleValue else {
      throw Misfit(message: "the field is \(number.typeWithArticle), not a number; set it to one first")
    }
    if let left = Int64(jsonValue: number), let right = Int64(jsonValue: amount) {
      let (sum, overflow) = left.addingReportingOverflow(right)
      guard !overflow else { throw Misfit(message: "\(left) + \(right) exceeds 64 bits; set the field") }
      return .int(sum)
    }
    guard !isLargeInteger(number), !isLargeInteger(amount), (left + right).isFinite else {
      throw Misfit(message: "the sum exceeds a number's range, or would lose digits; set the field")
    }
    return .double(left + right)
  }

  /// Whether a number is an integer beyond 64 bits, which a double would round.
  private static func isLargeInteger(_ number: JSONValue) -> Bool {
    if case .spelled(let spelled) = number {
      spelled.isInteger && Int64(jsonValue: number) == nil
    } else {
      false
    }
  }
}
