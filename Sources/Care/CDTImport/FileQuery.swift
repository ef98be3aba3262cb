import CDTDatastore
import CDTJSON
import CDTPlatform
package import CDTQuery

/// The results of a query over the documents of files, without a datastore.
///
/// They are those of a datastore that has imported the files, but without `_rev`, and without `_id` for documents that have
/// none, since an import would make it. Without a sort they are in the order of the files; memory then depends on the largest
/// document only. With a sort the results are in memory, up to the end of the page.
package struct FileQuery {
  private let query: Query
  private let reader: ImportReader

  /// - Parameter reader: Reads the files, which happens again with every call of a method.
  package init(_ query: Query, _ reader: ImportReader) {
    self.query = query
    self.reader = reader
  }

  /// Calls a closure with the JSON of each result, `_id` first, which is valid during the call.
  ///
  /// - Throws: ``QueryError``; ``ImportError`` for an invalid document, after the results before it; `DatastoreError` if a
  ///   file can't be read; what `body` throws.
  package func forEachJSON(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let query = try ResolvedQuery(query)
    var buffer = TextBuffer()
    var normalizer = JSONNormalizer()
    normalizer.makesCanonical = false
    try forEach(needsIDs: false) { document in
      try normalizer.normalize(whole: document.body.slice(0, document.body.count))
      if query.returnsDocuments {
        normalizer.text.withUnsafeBytes { Self.write(document.id, $0, to: &buffer) }
      } else {
        let body = normalizer.text.withUnsafeBytes { JSONBytes($0).value(at: 0).objectValue }
        query.result(body ?? [:], of: document, nil).utf8Text.withUnsafeBytes {
          Self.write(document.id, $0, to: &buffer)
        }
      }
      try buffer.withBytes(body)
    }
  }

  /// Replaces the text by that of a document: `_id`, if it has one, then the body's members.
  private static func write(
    _ id: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer, to buffer: inout TextBuffer
  ) {
    buffer.replace(upTo: 0) { $0 }
    guard id.count > 0 else { return buffer.append(body) }
    append("{\"_id\":", to: &buffer)
    JSONString.quoted(id).withUnsafeBytes { buffer.append($0) }
    if body.count > 2 { append(",", to: &buffer) }
    buffer.append(UnsafeRawBufferPointer(rebasing: body.dropFirst()))
  }

  /// Calls a closure with the id of each result.
  ///
  /// - Throws: ``ImportError`` also for a document without `_id`; otherwise as ``forEachJSON(_:)``.
  package func forEachID(_ body: (String) throws -> Void) throws {
    try forEach(needsIDs: true) { document in try body(String(decoding: document.id, as: UTF8.self)) }
  }

  /// The number of documents that match, ignoring the page.
  package func count() throws -> Int {
    var count = 0
    try FileQuery(query.withoutPage, reader).forEach(needsIDs: false) { _ in count += 1 }
    return count
  }

  private func forEach(needsIDs: Bool, _ body: (DocumentBytes) throws -> Void) throws {
    var query = try StreamedQuery(query)
    let needsIDs = needsIDs || query.readsIDs
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    var reader = reader
    guard !query.isComplete else { return }
    try reader.forEach { id, text, place in
      if id == nil, needsIDs { throw Self.missingID(place) }
      if let id { try Self.check(id, place) }
      var id = id ?? ""
      try id.withUTF8 {
        let document = DocumentBytes(id: UnsafeRawBufferPointer($0), revision: empty, body: text)
        try query.add(document, body)
      }
      return !query.isComplete
    }
    try query.finish(body)
  }

  private static func append(_ text: StaticString, to buffer: inout TextBuffer) {
    buffer.append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Throws for an id that no document can have.
  static func check(_ id: String, _ place: SourcePlace) throws {
    do throws(DatastoreError) {
      try DocumentID.check(id)
    } catch {
      throw ImportError(file: place.file, line: place.line, column: 0, message: error.message)
    }
  }

  private static func missingID(_ place: SourcePlace) -> ImportError {
    ImportError(
      file: place.file, line: place.line, column: 0,
      message: "the document has no _id, which the query asks for; name the field that is its id with --id")
  }
}
