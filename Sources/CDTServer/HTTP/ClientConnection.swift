/// What the tasks that answer a client's requests know of its connection.
final class ClientConnection: Sendable {
  /// The connection whose requests the task answers.
  @TaskLocal static var current = ClientConnection()

  /// The client sends no more, and may be gone. It may still read replies.
  let inputClosed = OneTimeEvent()
}
