import CDTJSON

/// The attachments of a document, by name.
///
/// ```swift
/// document.attachments = [cat, dog]           // by their names
/// document.attachments["cat.jpg"] = otherCat  // added or replaced
/// document.attachments["dog.jpg"] = nil       // removed
/// document.attachments = []                   // all removed
/// for attachment in document.attachments { print(attachment.name, attachment.contentType) }
/// ```
///
/// Names are compared byte by byte and sorted by their UTF-16 code units, as digests require.
public struct Attachments: Sendable, Hashable {
  private struct Entry: Sendable, Hashable {
    let key: KeyBytes
    var attachment: DocumentAttachment
  }

  /// Sorted by key.
  private var entries: [Entry] = []

  /// No attachments.
  public init() {}

  /// Creates attachments from a sequence; if a name occurs more than once, the last one is kept.
  public init(_ attachments: some Sequence<DocumentAttachment>) {
    for attachment in attachments { self[attachment.name] = attachment }
  }

  /// The names, sorted.
  public var names: [String] { entries.map(\.key.string) }

  /// The attachment with a name; assign `nil` to remove it.
  ///
  /// The key must be the attachment's name when you save the document.
  ///
  /// - Complexity: O(log *n*) to read; O(*n*) to change.
  public subscript(name: String) -> DocumentAttachment? {
    get { place(of: name).found.map { entries[$0].attachment } }
    set {
      let place = place(of: name)
      switch (place.found, newValue) {
      case (let found?, let attachment?): entries[found].attachment = attachment
      case (let found?, nil): entries.remove(at: found)
      case (nil, let attachment?):
        entries.insert(Entry(key: KeyBytes(name), attachment: attachment), at: place.insertion)
      case (nil, nil): break
      }
    }
  }

  /// Removes an attachment and returns it, if there was one.
  @discardableResult
  public mutating func removeValue(forKey name: String) -> DocumentAttachment? {
    defer { self[name] = nil }
    return self[name]
  }

  /// The position of a name, or where to insert it.
  private func place(of name: String) -> (found: Int?, insertion: Int) {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = low + (high - low) / 2
      if entries[middle].key.string.utf16.lexicographicallyPrecedes(name.utf16) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < entries.count, entries[low].key == KeyBytes(name) else { return (nil, low) }
    return (low, low)
  }

  /// Names and attachments, sorted by name.
  func sorted() -> [(key: String, value: DocumentAttachment)] {
    entries.map { (key: $0.key.string, value: $0.attachment) }
  }
}

extension Attachments: RandomAccessCollection {
  /// The position of the first attachment.
  public var startIndex: Int { 0 }

  /// The position after the last attachment.
  public var endIndex: Int { entries.count }

  /// The attachment at a position, sorted by name.
  public subscript(position: Int) -> DocumentAttachment { entries[position].attachment }
}

extension Attachments: ExpressibleByArrayLiteral {
  /// Creates attachments from an array literal.
  public init(arrayLiteral attachments: DocumentAttachment...) {
    self.init(attachments)
  }
}

extension Attachments: ExpressibleByDictionaryLiteral {
  /// Creates attachments from a dictionary literal. When you save the document, each key must be the attachment's
  /// name; `nil` values are omitted.
  public init(dictionaryLiteral elements: (String, DocumentAttachment?)...) {
    for (name, attachment) in elements { self[name] = attachment }
  }
}
