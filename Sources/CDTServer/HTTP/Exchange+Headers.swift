import HTTPTypes

extension Exchange {
  /// Whether the client takes a media type. Without a header it takes all.
  func accepts(_ type: String) -> Bool {
    guard let header = request.headers[.accept] else { return true }
    let group = type.split(separator: "/").first.map { "\($0)/*" } ?? "*/*"
    return header.split(separator: ",").contains { item in
      let name = item.split(separator: ";").first.map { $0.filter { $0 != " " }.lowercased() }
      return name == type || name == "*/*" || name == group
    }
  }

  /// Whether the client has the content with an `ETag` already. A proxy that compresses replies makes their tags weak, and they
  /// are compared as if they were not.
  func hasNone(of tag: String?) -> Bool {
    guard let tag, let header = request.headers[.ifNoneMatch] else { return false }
    return header == "*"
      || header.split(separator: ",").contains { Self.strong($0.filter { $0 != " " && $0 != "\t" }) == tag }
  }

  /// An entity tag without the mark of a weak one.
  static func strong(_ tag: String) -> String { tag.afterBytePrefix("W/") ?? tag }
}
