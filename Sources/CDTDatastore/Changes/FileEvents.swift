import Dispatch

#if os(Linux)
  import Glibc

  /// Tells when files of a directory are written to, come or go, and when the directory is moved or removed.
  struct FileEvents {
    private let names: [String]
    private let descriptor: Int32
    private let source: any DispatchSourceRead

    private static let mask =
      IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF

    /// `nil` where the system can't tell, or has told as many as it may.
    init?(_ directory: String, names: [String], queue: DispatchQueue) {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      guard inotify_add_watch(descriptor, directory, UInt32(Self.mask)) >= 0 else {
        close(descriptor)
        return nil
      }
      self.names = names
      self.descriptor = descriptor
      source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      // The system may be waiting for the descriptor until the source is cancelled.
      source.setCancelHandler { close(descriptor) }
    }

    /// Calls the closure on the queue, once for all events that have come by then.
    func start(_ body: @escaping @Sendable () -> Void) {
      source.setEventHandler { [names, descriptor] in
        if Self.drain(descriptor, names: names) { body() }
      }
      source.activate()
    }

    /// Ends the calls; must follow ``start(_:)``.
    func end() {
      source.cancel()
    }

    /// Reads all events that have come, and says whether one is of a file of these names or of the directory itself.
    private static func drain(_ descriptor: Int32, names: [String]) -> Bool {
      var isOurs = false
      withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
        while true {
          let count = read(descriptor, buffer.baseAddress, buffer.count)
          guard count > 0 else { return }
          isOurs = isOurs || hasEvent(of: names, in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
      }
      return isOurs
    }

    private static func hasEvent(of names: [String], in events: UnsafeRawBufferPointer) -> Bool {
      let header = MemoryLayout<inotify_event>.size
      var rest = events[...]
      while rest.count >= header {
        let event = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: inotify_event.self)
        let name = rest.dropFirst(header).prefix(Int(event.len)).prefix { $0 != 0 }
        if name.isEmpty || names.contains(where: { $0.utf8.elementsEqual(name) }) { return true }
        rest = rest.dropFirst(header + Int(event.len))
      }
      return false
    }
  }
#else
  /// No events: the files are looked at from time to time.
  struct FileEvents {
    init?(_ directory: String, names: [String], queue: DispatchQueue) { nil }
    func start(_ body: @escaping @Sendable () -> Void) {}
    func end() {}
  }
#endif
