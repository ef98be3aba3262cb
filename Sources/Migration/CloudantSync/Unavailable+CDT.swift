// Names of CDTDatastore without a counterpart of the same form. Their messages show where to go on.

public import Foundation

/// CDTDatastore's operation that reads changes.
@available(*, unavailable, message: "use Datastore.changes(since:limit:)")
public struct CDTFetchChanges {}

/// CDTDatastore's indexes before 0.9.
@available(
  *, unavailable, message: "use Datastore.ensureIndexed(_:_:name:) and Datastore.find(_:)"
)
public struct CDTIndexManager {}

/// CDTDatastore's indexes.
@available(
  *, unavailable, message: "use Datastore.ensureIndexed(_:_:name:) and Datastore.find(_:)"
)
public struct CDTQIndexManager {}

/// CDTDatastore's notification of a change, in Swift 2.
@available(*, unavailable, message: "read Datastore.liveChanges(since:)")
public let CDTDatastoreChangeNotification = "CDTDatastoreChangeNotification"

/// CDTDatastore's log level.
@available(*, unavailable, message: "the package writes no log; errors are thrown")
public func CDTChangeLogLevel(_ context: Int, _ level: Int) {}

extension NSNotification.Name {
  /// CDTDatastore's notification of a change.
  @available(*, unavailable, message: "read Datastore.liveChanges(since:)")
  public static var CDTDatastoreChange: NSNotification.Name { NSNotification.Name("CDTDatastoreChange") }
}
