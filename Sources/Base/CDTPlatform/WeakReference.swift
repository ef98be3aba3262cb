/// A weak reference to an object.
package final class WeakReference<Object: AnyObject & Sendable>: @unchecked Sendable {
  // Sendable: `value` is set once; afterwards only the runtime changes it, to nil, which is safe during concurrent
  // reads.
  package private(set) weak var value: Object?

  package init(_ value: Object) {
    self.value = value
  }
}
