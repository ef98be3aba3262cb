import Hummingbird
import NIOCore

/// What the tasks that answer a client's requests know of its connection.
final class ClientConnection: Sendable {
  /// The connection whose requests the task answers.
  @TaskLocal static var current = ClientConnection(on: nil)

  private let eventLoop: (any EventLoop)?

  init(on eventLoop: (any EventLoop)?) {
    self.eventLoop = eventLoop
  }

  /// The client sends no more, and may be gone. It may still read replies.
  let inputClosed = OneTimeEvent()

  /// Waits until the event loop has seen all that was written.
  ///
  /// Only then does a connection that can take no more hold back the next write: beside a busy event loop, a task would
  /// write megabytes for a client that does not read.
  func catchUp() async throws {
    try await eventLoop?.submit {}.get()
  }
}

extension ResponseBodyWriter {
  /// Writes a part of a long reply, at the pace of the client.
  mutating func send(_ buffer: ByteBuffer) async throws {
    try await write(buffer)
    try await ClientConnection.current.catchUp()
  }
}
