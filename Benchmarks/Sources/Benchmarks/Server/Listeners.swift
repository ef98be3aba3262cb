import Glibc

/// Connections that each wait for the changes of a database.
final class Listeners {
  private struct Listener {
    let connection: HTTPConnection
    var reader = HTTPReader()
    /// The end of what it has received.
    var tail: [UInt8] = []
    var hasSeen = false
  }

  private let address: ServerAddress
  private let database: String
  private var listeners: [Listener] = []
  private var saved = 0

  /// Connects them, and waits until each has the head of its reply.
  init(_ address: ServerAddress, database: String, count: Int) throws {
    self.address = address
    self.database = database
    for _ in 0..<count {
      let connection = try HTTPConnection(address)
      try connection.send("GET", "/\(database)/_changes?feed=continuous&since=now&heartbeat=60000")
      listeners.append(Listener(connection: connection))
    }
    try wait { $0.reader.status != nil }
    guard listeners.allSatisfy({ $0.reader.status == 200 }) else { throw BenchError("_changes is refused") }
  }

  /// Saves documents one after the other, and measures for each listener how long it takes until it has the change.
  ///
  /// - Parameter save: Saves a document of the given id. What it returns is called when all listeners have the change.
  func times(of writes: Int, _ save: (_ id: String) throws -> () throws -> Void) throws -> Percentiles {
    var times: [Int64] = []
    for _ in 0..<writes {
      // Let every listener come to rest.
      Clock.monotonic.sleep(until: Clock.monotonic.now + 100_000_000)
      for position in listeners.indices { listeners[position].hasSeen = false }
      let id = "note-\(saved)"
      saved += 1
      let mark = Array(#""\#(id)""#.utf8)
      let start = Clock.monotonic.now
      let finish = try save(id)
      try wait { listener in
        if !listener.hasSeen, listener.tail.contains(mark) {
          listener.hasSeen = true
          times.append(Clock.monotonic.now - start)
        }
        return listener.hasSeen
      }
      try finish()
    }
    return Percentiles(times)
  }

  /// Saves the documents by the server.
  func times(of writes: Int) throws -> Percentiles {
    let body = Array(#"{"text":"Buy milk"}"#.utf8)
    return try times(of: writes) { id in
      let writer = try HTTPConnection(address)
      try writer.send("PUT", "/\(database)/\(id)", length: body.count)
      try writer.send(body)
      return {
        guard try writer.receive({ _ in }).isSuccess else { throw BenchError("\(id) was not saved") }
      }
    }
  }

  /// Receives until every listener is as wanted.
  private func wait(_ isReady: (inout Listener) -> Bool) throws {
    var buffer = [UInt8](repeating: 0, count: 16 * 1_024)
    var waiting = listeners.indices.filter { !isReady(&listeners[$0]) }
    while !waiting.isEmpty {
      var polled = waiting.map {
        pollfd(fd: listeners[$0].connection.socket, events: Int16(POLLIN), revents: 0)
      }
      guard poll(&polled, nfds_t(polled.count), 60_000) > 0 else {
        throw BenchError("\(waiting.count) listeners wait in vain")
      }
      for (position, event) in zip(waiting, polled) where event.revents != 0 {
        try receive(position, &buffer)
      }
      waiting.removeAll { isReady(&listeners[$0]) }
      // So that reading takes little of the server's processors.
      Clock.monotonic.sleep(until: Clock.monotonic.now + 1_000_000)
    }
  }

  private func receive(_ position: Int, _ buffer: inout [UInt8]) throws {
    let count = recv(listeners[position].connection.socket, &buffer, buffer.count, 0)
    guard count > 0 else { throw BenchError("\(address.url) has ended a feed") }
    var tail = listeners[position].tail
    try buffer.withUnsafeBytes { bytes in
      try listeners[position].reader.take(UnsafeRawBufferPointer(rebasing: bytes[..<count])) { tail += $0 }
    }
    listeners[position].tail = tail.suffix(200)
  }
}
