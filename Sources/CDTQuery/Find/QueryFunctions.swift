import JSON
import SQLite

/// The SQL functions through which a statement asks the engine.
///
/// | function | gives |
/// |---|---|
/// | `cdt_match(selector, body, id, revision)` | 1 when the document matches, else 0 |
/// | `cdt_match(selector, body, sequence)` | the same of a selector that does not ask for `_id` and `_rev` |
/// | `cdt_order(sort, body)`, `cdt_order(sort, body, id, revision)` | the ``OrderKey`` that puts the document in its place |
/// | `cdt_keep(sort, body)`, and with id and revision | 1 when the document may be among the first, else 0 |
/// | `cdt_kept(sort)` | the ``OrderKey`` of the document that `cdt_keep` was asked of last |
/// | `cdt_tag(set, n)`, `cdt_value(set, n)` | the two columns of the set's key number n |
/// | `cdt_wanted(documents, sequence)` | the sequence, or NULL when the reader has its document |
/// | `cdt_sort_tag(sort, n, body)`, `cdt_sort_value(sort, n, body)` | the two columns of the document's key for field n of the sort |
///
/// The first argument is a pointer, which SQL text can't make. A body that is NULL stands for the document of which
/// `cdt_wanted` has just said that the reader has it; if it has none, the document is gone, and 0 is given.
enum QueryFunctions {
  static func register(on connection: Connection) throws(SQLiteError) {
    for arguments in [3, 4] {
      try connection.createFunction("cdt_match", argumentCount: arguments, deterministic: true) { call in
        match(call)
      }
    }
    for arguments in [2, 4] {
      try connection.createFunction("cdt_order", argumentCount: arguments, deterministic: true) { call in
        meet(call) { object, _ in object.withKey { call.setResult(blob: $0) } }
      }
      try connection.createFunction("cdt_keep", argumentCount: arguments, deterministic: false) { call in
        meet(call) { _, mayBeFirst in call.setResult(Int64(mayBeFirst ? 1 : 0)) }
      }
    }
    try connection.createFunction("cdt_wanted", argumentCount: 2, deterministic: false) { call in
      want(call)
    }
    try connection.createFunction("cdt_kept", argumentCount: 1, deterministic: false) { call in
      let isKnown = call.withObject(at: 0, type: SortObject.pointerType, as: SortObject.self) { object in
        object.withKey { call.setResult(blob: $0) }
      }
      if !isKnown { missing(call) }
    }
    try connection.createFunction("cdt_tag", argumentCount: 2, deterministic: true) { call in
      call.setResult(memberKey(call).tag.rawValue)
    }
    try connection.createFunction("cdt_value", argumentCount: 2, deterministic: true) { call in
      setResult(memberKey(call), of: call)
    }
    try connection.createFunction("cdt_sort_tag", argumentCount: 3, deterministic: true) { call in
      call.setResult(sortKey(call).tag.rawValue)
    }
    try connection.createFunction("cdt_sort_value", argumentCount: 3, deterministic: true) { call in
      setResult(sortKey(call), of: call)
    }
  }

  private static func match(_ call: borrowing FunctionCall) {
    let isKnown = call.withObject(at: 0, type: MatchObject.pointerType, as: MatchObject.self) { object in
      if let documents = object.documents, call.isNull(at: 1) {
        guard let document = documents.current else { return call.setResult(Int64(0)) }
        object.calls += 1
        return match(object, document, call)
      }
      object.calls += 1
      call.withBytes(at: 1) { body in
        object.withProgram { program in
          if program.rules(out: body) { return call.setResult(Int64(0)) }
          match(object, program, body, call)
        }
      }
    }
    if !isKnown { missing(call) }
  }

  /// Puts a document that the reader has to the matcher.
  private static func match(_ object: MatchObject, _ document: CachedDocument, _ call: borrowing FunctionCall)
  {
    let body = document.body
    object.withProgram { program in
      if program.rules(out: body) { return call.setResult(Int64(0)) }
      match(object, program, body, id: document.id, revision: document.revision, call) {
        .sequence(document.sequence)
      }
    }
  }

  private static func want(_ call: borrowing FunctionCall) {
    let isKnown = call.withObject(at: 0, type: DocumentCache.pointerType, as: DocumentCache.self) {
      documents in
      do throws(SQLiteError) {
        if let wanted = try documents.want(call.int64(at: 1)) { call.setResult(wanted) }
      } catch {
        documents.fail(error)
        call.setError(error.message)
      }
    }
    if !isKnown { missing(call) }
  }

  private static func match(
    _ object: MatchObject, _ program: MatchProgram, _ body: UnsafeRawBufferPointer,
    _ call: borrowing FunctionCall
  ) {
    guard object.readsDocumentFields else {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      return match(object, program, body, id: none, revision: none, call) { .sequence(call.int64(at: 2)) }
    }
    call.withBytes(at: 2) { id in
      call.withBytes(at: 3) { revision in
        match(object, program, body, id: id, revision: revision, call) {
          .id(String(decoding: id, as: UTF8.self))
        }
      }
    }
  }

  private static func match(
    _ object: MatchObject, _ program: MatchProgram, _ body: UnsafeRawBufferPointer,
    id: UnsafeRawBufferPointer,
    revision: UnsafeRawBufferPointer, _ call: borrowing FunctionCall,
    document: () -> MatchObject.FailedDocument
  ) {
    do throws(MatchFailure) {
      let matches = try program.matcher.matches(JSONBytes(body), id: id, revision: revision)
      call.setResult(Int64(matches ? 1 : 0))
    } catch {
      object.failure = (error, document())
      call.setError("a pattern passed its limits")
    }
  }

  /// Shows the document to the sort, and gives `body` the sort and whether the document may be among the first.
  private static func meet(_ call: borrowing FunctionCall, _ body: (SortObject, Bool) -> Void) {
    let isKnown = call.withObject(at: 0, type: SortObject.pointerType, as: SortObject.self) { object in
      if let documents = object.documents, call.isNull(at: 1) {
        guard let document = documents.current else { return call.setResult(Int64(0)) }
        return body(
          object, object.meet(JSONBytes(document.body), id: document.id, revision: document.revision))
      }
      call.withBytes(at: 1) { document in
        // Without the last two arguments these are empty, and the sort does not ask for them.
        call.withBytes(at: 2) { id in
          call.withBytes(at: 3) { revision in
            body(object, object.meet(JSONBytes(document), id: id, revision: revision))
          }
        }
      }
    }
    if !isKnown { missing(call) }
  }

  /// The member of a set that `cdt_tag` and `cdt_value` are asked for.
  private static func memberKey(_ call: borrowing FunctionCall) -> IndexKey {
    let number = Int(call.int64(at: 1))
    guard let set = call.object(at: 0, type: KeySet.pointerType) as? KeySet,
      set.keys.indices.contains(number)
    else { return .nothing }
    return set.keys[number]
  }

  /// The key of a document that `cdt_sort_tag` and `cdt_sort_value` are asked for.
  private static func sortKey(_ call: borrowing FunctionCall) -> IndexKey {
    let number = Int(call.int64(at: 1))
    guard let sort = call.object(at: 0, type: SortObject.pointerType) as? SortObject else { return .nothing }
    return call.withBytes(at: 2) { sort.key(of: number, in: JSONBytes($0)) }
  }

  private static func setResult(_ key: IndexKey, of call: borrowing FunctionCall) {
    switch key.value {
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
