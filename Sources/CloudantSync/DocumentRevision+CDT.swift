public import CDTDatastore

extension DocumentRevision {
  /// CDTDatastore's spelling of ``DocumentRevision/init(id:body:attachments:)``.
  @available(*, deprecated, renamed: "init(id:)")
  public init(docId: String?) {
    self.init(id: docId)
  }

  /// The spelling that CDTDatastore's guide had for ``DocumentRevision/init(id:body:attachments:)``.
  @available(*, deprecated, renamed: "init(id:)")
  public init(_ docId: String) {
    self.init(id: docId)
  }

  /// CDTDatastore's spelling of ``DocumentRevision/id``.
  @available(*, deprecated, renamed: "id")
  public var docId: String? {
    get { id }
    set { id = newValue }
  }

  /// CDTDatastore's spelling of ``DocumentRevision/revision``, as text.
  @available(*, deprecated, renamed: "revision")
  public var revId: String? { revision?.description }

  /// CDTDatastore's spelling of ``DocumentRevision/isDeleted``.
  @available(*, deprecated, renamed: "isDeleted")
  public var deleted: Bool { isDeleted }

  /// What copies a revision in CDTDatastore; here a revision is a value, and assigning it copies it.
  @available(*, deprecated, message: "a revision is a value: assign it to a var")
  public func copy() -> DocumentRevision { self }

  /// What CDTDatastore 0.7 to 0.17 had to change a revision with; here a revision in a `var` can be changed.
  @available(*, deprecated, message: "a revision is a value: assign it to a var")
  public func mutableCopy() -> DocumentRevision { self }
}

// The guide has `let anotherDoc = datastore.getDocumentForId("anotherId")`, and goes on with it as with a document.
extension Optional where Wrapped == DocumentRevision {
  /// The attachments of a document that may not be there; none of one that is not.
  @available(
    *, deprecated, message: "read the document with document(withID:), which throws when it is not there"
  )
  public var attachments: Attachments { self?.attachments ?? Attachments() }
}
