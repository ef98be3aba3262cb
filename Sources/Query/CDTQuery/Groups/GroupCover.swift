import CDTJSON
import CDTPlan

/// The fields of an index that have the values for a query for groups, so that no document is read.
///
/// The key of an index row gives a value as it is written in a row of groups: of its ``OrderKey``. Its marks tell null from a missing
/// field.
struct GroupCover: Sendable {
  /// The index's field of each input; `nil` for the id, which every row has.
  let fields: [Int?]
  let layout: KeyLayout
  /// The index's field that is unwound.
  private let unwound: Int?

  /// - Parameter fields: The index's field of each input.
  init(fields: [Int], in layout: KeyLayout) {
    self.fields = fields
    self.layout = layout
    unwound = nil
  }

  /// - Returns: `nil` if a value is not in the index. An index with several rows per document covers only the distinct values of
  ///   one field.
  init?(_ groups: ResolvedGroups, _ entry: IndexCatalog.Entry) {
    // An index with a collation has no strings as they are written.
    guard entry.definition.collation == nil else { return nil }
    let paths = entry.definition.fields.map(\.fieldPath)
    if entry.isMultiple {
      guard entry.definition.groupedFields == nil, groups.outputs.isEmpty, groups.fields == 1,
        groups.inputs[0].inElement == []
      else { return nil }
    }
    var fields: [Int?] = []
    for input in groups.inputs {
      let field = paths.firstIndex(of: input.path)
      guard field != nil || input.documentField == .id else { return nil }
      fields.append(field)
    }
    self.fields = fields
    layout = KeyLayout(entry.definition)
    unwound = groups.unwind.flatMap(paths.firstIndex)
    if groups.unwind != nil, unwound == nil { return nil }
  }

  /// Whether a row has no element to unwind.
  func isEmpty(_ key: JSONBytes) -> Bool {
    unwound.map { IndexInput(key, self).isMissing(field: $0) } ?? false
  }

  /// The number of fields at the beginning of the keys that are the same in rows of one group, if the rows have an order.
  func fieldsOfGroup(_ order: [OrderTerm]?) -> Int? {
    guard let order else { return nil }
    let fields = (order.compactMap(\.field).max() ?? -1) + 1
    return unwound.map { $0 < fields } ?? true ? fields : nil
  }

  /// The order of rows in which each group comes after another, if it is that of the index.
  func terms(of groups: ResolvedGroups, _ access: IndexAccess) -> [OrderTerm]? {
    let (definition, constants) = (access.index.definition, access.constantFields)
    let isOnce = access.fields.allSatisfy { field in
      if case .points(let keys) = field { keys.count == 1 } else { true }
    }
    let requested = fields.prefix(groups.fields).filter { $0.map { $0 >= constants } ?? true }
    guard isOnce, requested.elementsEqual((constants..<constants + requested.count).map(Optional.some)) else {
      return nil
    }
    let directions = Set(definition.fields[constants..<constants + requested.count].map(\.isDescending))
    guard directions.count <= 1 else { return nil }
    return requested.map { OrderTerm(field: $0, isDescending: false) }
  }
}
