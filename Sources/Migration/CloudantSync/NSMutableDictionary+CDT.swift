#if !canImport(ObjectiveC)
  public import Foundation

  extension NSMutableDictionary {
    /// Sets the value of a key, or removes it. Foundation has this method on Apple platforms only, and apps of CDTDatastore
    /// call it on a body.
    @available(*, deprecated, message: "use a subscript")
    public func setValue(_ value: Any?, forKey key: String) { self[key] = value }
  }
#endif
