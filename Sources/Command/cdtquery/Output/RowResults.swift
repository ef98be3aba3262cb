import CDTDatastore
import CDTJSON

/// Rows, printed like documents.
struct RowResults: QueryResults {
  let forEachRow: (_ body: (JSONObject) throws -> Void) throws -> Void

  func forEachJSON(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
    try forEachRow { try $0.utf8Text.withUnsafeBytes(body) }
  }

  /// Rows have none.
  func forEachID(_ body: @escaping (String) throws -> Void) throws {}
}

extension JSONObject {
  /// The members with each of some fields, or alone if there is none.
  func rows(_ fields: [FieldDifference]) -> [JSONObject] {
    if fields.isEmpty { return [self] }
    return fields.map { field in
      var row = self
      for (name, value) in field.json { row[name] = value }
      return row
    }
  }
}
