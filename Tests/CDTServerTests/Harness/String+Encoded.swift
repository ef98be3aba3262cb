import CouchDB

extension String {
  /// A path whose query has characters that must be encoded.
  var encoded: String {
    let parts = split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return self }
    let query = parts[1].split(separator: "&").map { pair in
      let (name, value) = (pair.prefix { $0 != "=" }, pair.drop { $0 != "=" }.dropFirst())
      return "\(name)=\(PercentCoding.encode(String(value)))"
    }
    return "\(parts[0])?\(query.joined(separator: "&"))"
  }
}
