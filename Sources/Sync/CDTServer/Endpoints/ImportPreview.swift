import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery
import CouchDB
import Hummingbird
import Synchronization

/// Shows what an import would save: `/_import`.
extension RequestContext {
  /// The most bytes of the beginning of a file, as it is sent and when it is decompressed.
  private static let longestBeginning = 1 << 20
  private static let maximumDocuments = 100
  private static let maximumNotices = 100

  /// Replies with the first documents of a file, whose beginning is the body. Nothing is saved.
  func previewImport() async throws -> Response {
    let (options, file) = (try importOptions(), parameters["file"] ?? "documents")
    let limit = min(try parameters.count("limit") ?? 10, Self.maximumDocuments)
    let text = try await body(limit: Self.longestBeginning)
    // After the body, so that one that is sent slowly keeps nobody waiting.
    let place = try server.imports.enter()
    defer { withExtendedLifetime(place) {} }
    let largest = (
      document: limits.documentLength, value: max(limits.documentLength, limits.requestLength),
      decompressed: Int64(Self.longestBeginning)
    )
    do {
      let preview = try await Datastore.useFiles {
        let rest = Mutex(text)
        var reader = ImportReader(file) {
          rest.withLock { rest in
            .success(rest.readBytes(length: min(rest.readableBytes, ImportReader.longestPiece)) ?? [])
          }
        }
        options.apply(to: &reader)
        reader.limits = largest
        return try reader.preview(ofFirst: limit)
      }
      var json: JSONObject = [
        "ok": true, "format": .string(preview.format.rawValue),
        "separator": preview.separator.map { .string(String($0)) } ?? .null,
        "fields": .array(preview.fields.map { .string($0) }),
        "documents": .array(preview.documents.map { .object($0) }),
        "notices": .array(preview.notices.prefix(Self.maximumNotices).map { .string($0) }),
      ]
      json["cut"] = preview.cut.map { .string($0.description) }
      return Reply.json(json)
    } catch let error as ImportError {
      throw CouchError.badRequest(error.description)
    }
  }

  /// The options of an import that the parameters name.
  struct ImportOptions: Sendable {
    var idPath: [String] = []
    var separator: Character?

    func apply(to reader: inout ImportReader) {
      reader.idPath = idPath
      // As on the command line, what has a separator is a table, whatever its name.
      if let separator { (reader.format, reader.table.delimiter) = (.csv, separator) }
    }
  }

  func importOptions() throws(CouchError) -> ImportOptions {
    var options = ImportOptions()
    if let text = parameters["id"] {
      do throws(FieldPath.Fault) {
        options.idPath = try FieldPath(text, allowsDollar: true).segments
          .map { String(decoding: $0.name, as: UTF8.self) }
      } catch {
        throw .invalidParameter("id", text, expected: "a path such as code or pet.name")
      }
    }
    if let text = parameters["separator"] {
      options.separator = DocumentImporter.TableOptions.delimiter(text)
      guard options.separator != nil else {
        throw .invalidParameter(
          "separator", text, expected: "an ASCII character other than a quotation mark, or tab")
      }
    }
    return options
  }
}
