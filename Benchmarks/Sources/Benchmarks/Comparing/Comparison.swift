/// Holds the two stores' answers against each other, document by document.
struct Comparison {
  let ours: any Contestant
  let yardstick: any Contestant

  /// One id or document of an answer, in a spelling that both stores share.
  private struct Result: Hashable, Comparable {
    let id: [UInt8]
    /// The document's text, or nothing when only ids were asked for.
    let document: [UInt8]

    static func < (left: Result, right: Result) -> Bool { left.id.lexicographicallyPrecedes(right.id) }
  }

  /// - Throws: ``BenchError`` when the answers differ in an id, a byte of a document, or, where it was asked for, in their
  ///   order. Of a limited answer without an order, each store may choose its own documents, all of which must be in
  ///   the other's unlimited answer.
  func check(_ request: Request) throws {
    let mine = try results(ours, request)
    let theirs = try results(yardstick, request)
    if request.isOrdered {
      try demand(mine == theirs, request, mine, theirs)
    } else if let unlimited = request.unlimited {
      let all = try results(yardstick, unlimited)
      try demand(all.sorted() == results(ours, unlimited).sorted(), unlimited, mine, theirs)
      let known = Set(all)
      try demand(mine.count == theirs.count && Set(mine).count == mine.count, request, mine, theirs)
      try demand(mine.allSatisfy(known.contains) && theirs.allSatisfy(known.contains), request, mine, theirs)
    } else {
      try demand(mine.sorted() == theirs.sorted(), request, mine, theirs)
    }
  }

  private func demand(_ holds: Bool, _ request: Request, _ mine: [Result], _ theirs: [Result]) throws {
    guard holds else {
      throw BenchError(
        "the answers to \(request) differ: ours has \(mine.count), the yardstick \(theirs.count)")
    }
  }

  private func results(_ contestant: any Contestant, _ request: Request) throws -> [Result] {
    var results: [Result] = []
    try contestant.answer(request) { bytes in
      if request.wantsIDs {
        results.append(Result(id: Array(bytes), document: []))
      } else {
        results.append(Result(id: Array(idBytes(of: bytes)), document: Self.withoutRevision(bytes)))
      }
    }
    return results
  }

  /// A document's text without the `_rev` that follows the id in ours.
  private static func withoutRevision(_ document: UnsafeRawBufferPointer) -> [UInt8] {
    let id = idBytes(of: document)
    let afterID = 8 + id.count + 1
    let revision = Array(",\"_rev\":\"".utf8)
    guard document.count > afterID, document[afterID...].starts(with: revision),
      let end = document[(afterID + revision.count)...].firstIndex(of: UInt8(ascii: "\""))
    else { return Array(document) }
    return Array(document[..<afterID]) + Array(document[(end + 1)...])
  }
}
