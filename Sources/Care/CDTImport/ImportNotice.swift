import CDTDatastore
import CDTJSON
import CDTPlatform

// What an import says about its input, besides errors. A notice says what was recognized, and how to have it otherwise.
enum ImportNotice: Equatable {
  case wrapper(CouchWrapper, String)
  case rows(String)
  case members([String], String)
  case embedded([EmbeddedDocuments.Group], String)
  case memberWithoutName(String)
  case bulkActions(String)
  case mongoDB(String)
  case renamed(String, String, String)
  case table(separator: UInt8, isRecognized: Bool, String)
  case nestedColumn(String, String)
  case columnWithoutName(Int, String, String)
  case repeatedColumn(String, String)
  case mixedColumns([CSVHeader.MixedColumn], String)
  case unusedIDPath(Int)
  case tombstones(Int)
  case stubs(Int)
  case designDocuments(Int)

  var message: String {
    switch self {
    case .wrapper(let wrapper, let file):
      "\(file): \(Self.text(of: wrapper)) (--format json imports the text as it is)"
    case .rows(let file):
      "\(file): rows of CouchDB; their documents are imported (--format json imports the rows as they are)"
    case .members([], let file): "\(file): the members of the object are imported, with their names as ids"
    case .members(let path, let file):
      "\(file): the members of \(Self.quoted(path.joined(separator: "."))) are imported, with their names as ids"
    case .embedded(let groups, let file):
      "\(file): the text is one object, which is imported as one document; "
        + groups.map(Self.text).joined(separator: ", ")
    case .memberWithoutName(let file): "\(file): a member without a name is imported with an id that is made"
    case .bulkActions(let file):
      "\(file): lines of Elasticsearch's _bulk; each document is imported with the _id of its action (--format json imports all lines as they are)"
    case .mongoDB(let file):
      "\(file): MongoDB's Extended JSON; $oid, $date and numbers become plain JSON (--format json imports them as they are)"
    case .renamed(let name, let new, let file):
      "\(file): names that begin with _ are reserved; \(Self.quoted(name)) is imported as \(Self.quoted(new))"
    case .table(let separator, let isRecognized, let file):
      "\(file): \(isRecognized ? "a table; " : "")values are separated by \(Self.noun(separator)) (--delimiter sets another)"
    case .nestedColumn(let name, let file):
      "\(file): columns such as \(Self.quoted(name)) become objects (--flat keeps the dots in the names)"
    case .columnWithoutName(let number, let name, let file):
      "\(file): column \(number) has no name, so it is the field \(Self.quoted(name)) (--skip-lines sets another line as the header)"
    case .repeatedColumn(let name, let file):
      "\(file): columns of the same name, such as \(Self.quoted(name)), become an array"
    case .mixedColumns(let columns, let file):
      "\(file): columns of texts have numbers: "
        + columns.map { "\(Self.quoted($0.name)) has \($0.numbers) among \(Self.counted($0.texts, "text"))" }
        .joined(separator: ", ")
        + " (--text-columns \(Self.argument(columns.map(\.name).joined(separator: ","))) reads them as text)"
    case .unusedIDPath(let count):
      "--id has no effect on \(Self.counted(count, "document")) with an _id"
    case .tombstones(let count):
      count == 1 ? "1 deleted document is left out" : "\(count) deleted documents are left out"
    case .stubs(let count):
      "\(Self.counted(count, "attachment")) without content left out; read the database with attachments=true"
    case .designDocuments(let count):
      "\(Self.counted(count, "design document")) imported; indexes in them are made, functions are stored and never run"
    }
  }

  private static func text(of group: EmbeddedDocuments.Group) -> String {
    let path = group.path.map { $0.splitBytes(at: ".").joined(separator: "\\.") }.joined(separator: ".")
    let what = group.areMembers ? "members of its object" : "objects in its array"
    return
      "--at \(argument(path)) imports the \(group.count) \(what) \(quoted(group.path.joined(separator: "."))) instead"
  }

  /// An argument as a shell takes it.
  private static func argument(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 >= 0x80 || "._-,".utf8.contains($0) }
    return isPlain ? text : "'\(text.replacing("'", with: #"'\''"#))'"
  }

  private static func text(of wrapper: CouchWrapper) -> String {
    switch wrapper {
    case .docs: "CouchDB's {\"docs\": […]}; the documents in it are imported"
    case .rows: "a reply of CouchDB's _all_docs; the documents in it are imported"
    case .changes: "a reply of CouchDB's _changes; the documents in it are imported"
    case .pouchHeader: "a dump of pouchdb-dump; its documents are imported"
    case .backupHeader: "a file of couchbackup; its documents are imported"
    case .sequence: "a sequence of CouchDB"
    }
  }

  static func noun(_ separator: UInt8) -> String {
    switch separator {
    case UInt8(ascii: "\t"): "tabs"
    case UInt8(ascii: ";"): "semicolons"
    case UInt8(ascii: ","): "commas"
    default: "\"\(Character(Unicode.Scalar(separator)))\""
    }
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  private static func quoted(_ name: String) -> String { DatastoreError.quoted(name) }
}
