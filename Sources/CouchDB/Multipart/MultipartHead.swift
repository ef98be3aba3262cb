/// The header of a part of a multipart body.
package struct MultipartHead: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The fields in their written order.
  package var fields: [Field]

  package init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// The value of the first field with a name, in upper or lower case.
  package subscript(_ name: String) -> String? {
    let name = name.lowercased()
    return fields.first { $0.name.lowercased() == name }?.value
  }

  /// The media type in lower case, without its parameters; `nil` if there is none.
  package var mediaType: String? { self["Content-Type"].flatMap(HeaderValue.init)?.value }

  /// The `filename` of the `Content-Disposition`. CouchDB escapes nothing in it, so a name with quotation marks or
  /// backslashes may be wrong or missing.
  package var fileName: String? {
    self["Content-Disposition"].flatMap(HeaderValue.init)?["filename"]
  }
}

extension MultipartHead {
  /// The head of the part with the document.
  package static let document = MultipartHead([Field("Content-Type", "application/json")])

  /// The head of the part with an attachment, with the fields that CouchDB writes.
  ///
  /// - Parameters:
  ///   - name: The attachment's name. Control characters are written as `_`.
  ///   - length: The number of bytes of the part, compressed or not.
  package static func attachment(
    named name: String, contentType: String, length: Int64, encoding: ContentEncoding = .identity
  ) -> MultipartHead {
    var head = MultipartHead([
      Field("Content-Disposition", "attachment; filename=\(HeaderValue.quoted(name))"),
      Field("Content-Type", contentType),
      Field("Content-Length", String(length)),
    ])
    if encoding == .gzip { head.fields.append(Field("Content-Encoding", "gzip")) }
    return head
  }
}
