public import CDTDatastore
public import FoundationEssentials

extension Attachment {
  /// CDTDatastore's spelling of ``Attachment/init(file:name:type:)``.
  @available(*, deprecated, renamed: "init(file:name:type:)")
  public init(path: String, name: String, type: String) {
    self.init(file: path, name: name, type: type)
  }

  /// CDTDatastore's spelling of ``Attachment/data()``, which also tells why content can't be read; this is `nil` then.
  @available(*, deprecated, renamed: "data()")
  public func dataFromAttachmentContent() -> Data? {
    try? data()
  }
}

// The guide has `let att = revision.attachments["cat.jpg"]`, and goes on with it as with an attachment.
extension Optional where Wrapped == Attachment {
  /// The content of an attachment that may not be there; `nil` when it is not, or can't be read.
  @available(*, deprecated, message: "unwrap the attachment, and read it with data()")
  public var dataFromAttachmentContent: Data? { flatMap { try? $0.data() } }

  /// The name of an attachment that may not be there; empty when it is not.
  @available(*, deprecated, message: "unwrap the attachment")
  public var name: String { self?.name ?? "" }
}

extension Attachments: ExpressibleByNilLiteral {
  /// No attachments: CDTDatastore's `revision.attachments = nil`; here `[]` says it.
  @available(*, deprecated, message: "write [] for no attachments")
  public init(nilLiteral: ()) {
    self.init()
  }

  /// CDTDatastore's spelling of ``Attachments/removeValue(forKey:)``.
  @available(*, deprecated, renamed: "removeValue(forKey:)")
  @discardableResult
  public mutating func removeValueForKey(_ name: String) -> Attachment? {
    removeValue(forKey: name)
  }

  /// CDTDatastore's spelling of ``Attachments/removeValue(forKey:)``.
  @available(*, deprecated, renamed: "removeValue(forKey:)")
  public mutating func removeObjectForKey(_ name: String) {
    removeValue(forKey: name)
  }
}
