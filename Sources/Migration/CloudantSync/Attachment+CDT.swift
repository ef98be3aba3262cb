public import CDTDatastore
public import CDTPlatform

extension DocumentAttachment {
  /// CDTDatastore's form of `DocumentAttachment.init(file:name:contentType:)`.
  @available(*, deprecated, renamed: "init(file:name:contentType:)")
  public init(path: String, name: String, type: String) {
    self.init(file: path, name: name, contentType: type)
  }

  /// CDTDatastore's form of `DocumentAttachment.init(data:name:contentType:)`.
  @available(*, deprecated, renamed: "init(data:name:contentType:)")
  public init(data: Data, name: String, type: String) {
    self.init(data: data, name: name, contentType: type)
  }

  /// CDTDatastore's form of `DocumentAttachment.data()`. It returns `nil` if the content can't be read; `data()` throws the
  /// reason.
  @available(*, deprecated, renamed: "data()")
  public func dataFromAttachmentContent() -> Data? {
    try? data()
  }
}

// The guide uses the result of `revision.attachments["cat.jpg"]` without unwrapping it.
extension Optional where Wrapped == DocumentAttachment {
  /// The content of an attachment; `nil` if the attachment does not exist or can't be read.
  @available(*, deprecated, message: "unwrap the attachment and read it with data()")
  public var dataFromAttachmentContent: Data? { flatMap { try? $0.data() } }

  /// The name of an attachment; empty if the attachment does not exist.
  @available(*, deprecated, message: "unwrap the attachment")
  public var name: String { self?.name ?? "" }
}

extension Attachments: ExpressibleByNilLiteral {
  /// No attachments, as in CDTDatastore's `revision.attachments = nil`; use `[]` instead.
  @available(*, deprecated, message: "write [] for no attachments")
  public init(nilLiteral: ()) {
    self.init()
  }

  /// CDTDatastore's form of `Attachments.removeValue(forKey:)`.
  @available(*, deprecated, renamed: "removeValue(forKey:)")
  @discardableResult
  public mutating func removeValueForKey(_ name: String) -> DocumentAttachment? {
    removeValue(forKey: name)
  }

  /// CDTDatastore's form of `Attachments.removeValue(forKey:)`.
  @available(*, deprecated, renamed: "removeValue(forKey:)")
  public mutating func removeObjectForKey(_ name: String) {
    removeValue(forKey: name)
  }
}
