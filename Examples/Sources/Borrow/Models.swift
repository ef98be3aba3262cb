import CDTQuery
import Foundation

/// The kind of a document. All documents of a library are in one store, which the devices of the neighbours replicate.
enum Kind: String, Codable, CaseIterable {
  case person, tool, loan
}

/// A neighbour. The id is the name with which the neighbour logs in.
struct Person: DocumentModel, Equatable {
  var id: String
  var revision: RevisionID?
  var kind = Kind.person
  var name: String
}

/// A thing that its owner lends.
struct Tool: DocumentModel, Equatable {
  var id = UUID().uuidString
  var revision: RevisionID?
  var kind = Kind.tool
  var name: String
  var notes = ""
  var owner: Reference<Person>
}

/// A tool that somebody has, or had until it was returned.
struct Loan: DocumentModel, Equatable {
  var id = UUID().uuidString
  var revision: RevisionID?
  var kind = Kind.loan
  var tool: Reference<Tool>
  var owner: Reference<Person>
  var borrower: Reference<Person>
  var since = Date.now
  var returned: Date?
  var remark: String?
}
