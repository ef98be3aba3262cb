import JSON
import SQLite

/// The SQL functions through which a statement asks the engine.
///
/// | function | gives |
/// |---|---|
/// | `cdt_match(selector, body, id, revision)` | 1 when the document matches, else 0 |
/// | `cdt_match(selector, body, sequence)` | the same of a selector that does not ask for `_id` and `_rev` |
/// | `cdt_order(sort, body, id, revision)` | the ``OrderKey`` that puts the document in its place |
/// | `cdt_tag(set, n)`, `cdt_value(set, n)` | the two columns of the set's key number n |
/// | `cdt_tag(sort, n, body)`, `cdt_value(sort, n, body)` | the two columns of the document's key for field n of the sort |
///
/// The first argument is a pointer, which SQL text can't make.
enum QueryFunctions {
  static func register(on connection: Connection) throws(SQLiteError) {
    for arguments in [3, 4] {
      try connection.createFunction("cdt_match", argumentCount: arguments, deterministic: true) { call in
        match(call)
      }
    }
    try connection.createFunction("cdt_order", argumentCount: 4, deterministic: true) { call in
      order(call)
    }
    for arguments in [2, 3] {
      try connection.createFunction("cdt_tag", argumentCount: arguments, deterministic: true) { call in
        call.setResult(key(call).tag.rawValue)
      }
      try connection.createFunction("cdt_value", argumentCount: arguments, deterministic: true) { call in
        value(call)
      }
    }
  }

  private static func match(_ call: borrowing FunctionCall) {
    let isKnown = call.withObject(at: 0, type: MatchObject.pointerType, as: MatchObject.self) { object in
      call.withBytes(at: 1) { body in
        if let required = object.required, !required.isIn(body) { return call.setResult(Int64(0)) }
        match(object, body, call)
      }
    }
    if !isKnown { missing(call) }
  }

  private static func match(
    _ object: MatchObject, _ body: UnsafeRawBufferPointer, _ call: borrowing FunctionCall
  ) {
    guard object.readsDocumentFields else {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      return match(object, body, id: none, revision: none, call) { .sequence(call.int64(at: 2)) }
    }
    call.withBytes(at: 2) { id in
      call.withBytes(at: 3) { revision in
        match(object, body, id: id, revision: revision, call) { .id(String(decoding: id, as: UTF8.self)) }
      }
    }
  }

  private static func match(
    _ object: MatchObject, _ body: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer,
    revision: UnsafeRawBufferPointer, _ call: borrowing FunctionCall,
    document: () -> MatchObject.FailedDocument
  ) {
    do throws(MatchFailure) {
      let matches = try object.matcher.matches(JSONBytes(body), id: id, revision: revision)
      call.setResult(Int64(matches ? 1 : 0))
    } catch {
      object.failure = (error, document())
      call.setError("a pattern passed its limits")
    }
  }

  private static func order(_ call: borrowing FunctionCall) {
    guard let object = call.object(at: 0, type: QueryObject.pointerType) as? SortObject else {
      return missing(call)
    }
    call.withBytes(at: 1) { body in
      call.withBytes(at: 2) { id in
        call.withBytes(at: 3) { revision in
          let key = object.sort.key(of: JSONBytes(body), id: id, revision: revision)
          key.bytes.withUnsafeBytes { call.setResult(blob: $0) }
        }
      }
    }
  }

  /// The key that `cdt_tag` and `cdt_value` are asked for.
  private static func key(_ call: borrowing FunctionCall) -> IndexKey {
    let number = Int(call.int64(at: 1))
    switch call.object(at: 0, type: QueryObject.pointerType) {
    case let set as KeySet: return set.keys.indices.contains(number) ? set.keys[number] : .nothing
    case let sort as SortObject: return call.withBytes(at: 2) { sort.key(of: number, in: JSONBytes($0)) }
    default: return .nothing
    }
  }

  private static func value(_ call: borrowing FunctionCall) {
    switch key(call).value {
    case .zero: call.setResult(Int64(0))
    case .int(let int): call.setResult(int)
    case .double(let double): call.setResult(double)
    case .text(let text): text.withUnsafeBytes { call.setResult(text: $0) }
    case .blob(let blob): blob.withUnsafeBytes { call.setResult(blob: $0) }
    }
  }

  private static func missing(_ call: borrowing FunctionCall) {
    call.setError("this function is the query engine's own")
  }
}
