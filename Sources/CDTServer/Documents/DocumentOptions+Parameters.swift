import CDTDatastore
import CouchDB

extension DocumentOptions {
  init(_ parameters: Parameters) throws(CouchError) {
    self.init()
    let meta = parameters.flag("meta")
    revisions = parameters.flag("revs")
    revisionsInfo = parameters.flag("revs_info") || meta
    conflicts = parameters.flag("conflicts") || meta
    deletedConflicts = parameters.flag("deleted_conflicts") || meta
    localSequence = parameters.flag("local_seq")
    attachments = parameters.flag("attachments")
    if let since = parameters["atts_since"] {
      attachmentsSince = try RevisionID.list(parameter: since)
      attachments = true
    }
  }
}
