import CDTDatastore
package import CDTJSON
import CDTPlatform
import CDTQuery
import Synchronization

/// The first documents of a file, as an import would save them, and what was recognized in it.
package struct ImportPreview: Sendable {
  package fileprivate(set) var format = DocumentImporter.Format.json
  /// The character between the cells of a table.
  package fileprivate(set) var separator: Character?
  /// The paths of the columns of a table, or of the members of the documents, after `_id` if a document has one.
  package fileprivate(set) var fields: [String] = []
  /// The documents without their attachments.
  package fileprivate(set) var documents: [JSONObject] = []
  package fileprivate(set) var notices: [String] = []
  /// The error of the document inside which the text ends; `nil` if it does not end inside a document.
  package fileprivate(set) var cut: ImportError?

  /// Sets the fields, each once.
  fileprivate mutating func setFields(_ paths: [String]) {
    let ids = documents.contains { $0["_id"] != nil } ? ["_id"] : []
    var known: Set<KeyBytes> = []
    fields = (ids + paths).filter { known.insert(KeyBytes($0)).inserted }
  }
}

extension ImportReader {
  /// Reads the first documents of a file, of which only the beginning may be there.
  ///
  /// - Throws: ``ImportError`` for an invalid document whose end is there, `DatastoreError` if the file can't be read.
  package mutating func preview(ofFirst limit: Int) throws -> ImportPreview {
    let notices = Mutex<[String]>([])
    onNotice = { notice in notices.withLock { $0.append(notice) } }
    isBeginning = true
    var preview = ImportPreview()
    guard let file = files.popFirst() else { return preview }
    var source = try source(file)
    do {
      while preview.documents.count < limit, let (document, place) = try next(from: &source) {
        guard !source.isCut else { throw Self.cutRecord(place) }
        if let id = document.id { try FileQuery.check(id, place) }
        let id = document.id.map { [("_id", JSONValue.string($0))] } ?? []
        let body = try JSONObject(parsing: normalizer.text)
        preview.documents.append(JSONObject(id + body.map { ($0.key, $0.value) }))
        if recognized.hasRows || place.isWrapped { preview.format = .couchDB }
      }
    } catch let error as ImportError where source.isCut {
      preview.cut = error
    }
    if recognized.isMongoDB { preview.format = .mongoDB }
    if let table = source as? CSVSource {
      preview.format = .csv
      preview.separator = table.separator.map { Character(Unicode.Scalar($0)) }
      preview.setFields(table.header?.paths ?? [])
    } else {
      let names = preview.documents.flatMap { $0.map { FieldPath.Segment(name: Array($0.key.utf8)) } }
      preview.setFields(names.map { FieldPath(segments: [$0]).text })
    }
    tellLeftOut()
    preview.notices = notices.withLock { $0 }
    return preview
  }

  private static func cutRecord(_ place: SourcePlace) -> ImportError {
    ImportError(
      file: place.file, line: place.line, column: 0,
      message: "the text ends inside this record; check that it is complete")
  }
}
