/// The result of waiting for changes of a directory's files.
package enum FileEvent: Sendable {
  case change, timeout, end, failure
}
