import JSON

/// The attachments of a revision, by name.
///
/// ```swift
/// revision.attachments = [cat, dog]           // by their names
/// revision.attachments["cat.jpg"] = otherCat  // added or replaced
/// revision.attachments["dog.jpg"] = nil       // removed
/// revision.attachments = []                   // all removed
/// ```
///
/// Names are told apart by their bytes, and come in the order of their UTF-16 code units, which digests go by.
public struct Attachments: Sendable, Hashable {
  private var entries: [KeyBytes: Attachment] = [:]

  /// No attachments.
  public init() {}

  /// Attachments under their names; of several with one name the last stays.
  public init(_ attachments: some Sequence<Attachment>) {
    for attachment in attachments { self[attachment.name] = attachment }
  }

  /// How many there are.
  public var count: Int { entries.count }

  /// Whether there is none.
  public var isEmpty: Bool { entries.isEmpty }

  /// The names, in order.
  public var names: [String] { sorted().map(\.key) }

  /// The attachment of a name; assigning `nil` removes it.
  ///
  /// An attachment is saved only under its own name.
  public subscript(name: String) -> Attachment? {
    get { entries[KeyBytes(name)] }
    set { entries[KeyBytes(name)] = newValue }
  }

  /// Removes an attachment and gives it, if there was one.
  @discardableResult
  public mutating func removeValue(forKey name: String) -> Attachment? {
    entries.removeValue(forKey: KeyBytes(name))
  }

  /// Names and attachments in order.
  func sorted() -> [(key: String, value: Attachment)] {
    entries.map { (key: $0.key.string, value: $0.value) }.sorted {
      $0.key.utf16.lexicographicallyPrecedes($1.key.utf16)
    }
  }
}

extension Attachments: Sequence {
  /// Goes through the attachments, in the order of their names.
  public func makeIterator() -> IndexingIterator<[Attachment]> {
    sorted().map(\.value).makeIterator()
  }
}

extension Attachments: ExpressibleByArrayLiteral {
  /// Attachments under their names.
  public init(arrayLiteral attachments: Attachment...) {
    self.init(attachments)
  }
}

extension Attachments: ExpressibleByDictionaryLiteral {
  /// Attachments under keys, which have to be their names when they are saved; one that is `nil` is left out.
  public init(dictionaryLiteral elements: (String, Attachment?)...) {
    for (name, attachment) in elements { self[name] = attachment }
  }
}
