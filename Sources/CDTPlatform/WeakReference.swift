/// A reference that does not keep its object.
package final class WeakReference<Object: AnyObject & Sendable>: @unchecked Sendable {
  // Sendable: `value` is set once; afterwards only the runtime changes it, to nil, and does so safely beside reads.
  package private(set) weak var value: Object?

  package init(_ value: Object) {
    self.value = value
  }
}
