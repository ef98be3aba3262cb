/// Ends the enumeration of a query's results.
@available(*, deprecated, message: "use a for loop and break")
public final class CDTQStop {
  /// Whether to end after the current result.
  public var pointee = false

  /// The name of ``pointee`` before Swift 3.
  public var memory: Bool {
    get { pointee }
    set { pointee = newValue }
  }
}
