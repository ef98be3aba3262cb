import CDTDatastore
import CouchDB

extension DocumentOptions {
  init(_ parameters: Parameters) throws(CouchError) {
    self.init()
    let meta = try parameters.flag("meta")
    revisions = try parameters.flag("revs")
    revisionsInfo = try parameters.flag("revs_info") || meta
    conflicts = try parameters.flag("conflicts") || meta
    deletedConflicts = try parameters.flag("deleted_conflicts") || meta
    localSequence = try parameters.flag("local_seq")
    attachments = try parameters.flag("attachments")
    if let since = parameters["atts_since"] {
      attachmentsSince = try RevisionID.list(parameter: since)
      attachments = true
    }
  }
}
