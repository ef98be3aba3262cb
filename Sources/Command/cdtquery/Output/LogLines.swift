#if Server || Replication
  import ArgumentParser
  import CDTJSON
  import CDTPlatform
  import Logging
  import Synchronization

  /// The format of the log on standard error.
  enum LogFormat: String, CaseIterable {
    /// `2026-11-26T04:10:00.123Z info request method=GET path=/contacts status=200`
    case text
    /// `{"time":"2026-11-26T04:10:00.123Z","level":"info","message":"request","method":"GET",…}`
    case json
  }

  /// Writes each message of the log as a line on standard error.
  struct LogLines: LogHandler {
    let format: LogFormat
    var metadata = Logger.Metadata()
    private let threshold: Threshold
    /// The level that a user of the logger has set.
    private var ownLevel: Logger.Level?

    var logLevel: Logger.Level {
      get { ownLevel ?? threshold.level }
      set { ownLevel = newValue }
    }

    /// The level of all loggers, which can change while they are used.
    final class Threshold: Sendable {
      private let current: Mutex<Logger.Level>

      init(_ level: Logger.Level) {
        current = Mutex(level)
      }

      var level: Logger.Level {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
      }
    }

    init(_ format: LogFormat, _ threshold: Threshold = Threshold(.notice)) {
      self.format = format
      self.threshold = threshold
    }

    /// The logger of the options `--log-level` and `--log-format`.
    static func logger(level: String, format: String) throws(ValidationError) -> Logger {
      try logger(Threshold(self.level(level)), format: format)
    }

    /// A logger whose level can change.
    static func logger(_ threshold: Threshold, format: String) throws(ValidationError) -> Logger {
      guard let format = LogFormat(rawValue: format) else {
        throw ValidationError("--log-format must be text or json")
      }
      return Logger(label: "cdtquery") { _ in LogLines(format, threshold) }
    }

    /// The level that an option names.
    static func level(_ text: String) throws(ValidationError) -> Logger.Level {
      guard let level = Logger.Level(rawValue: text) else {
        throw ValidationError("--log-level must be debug, info, notice, warning or error")
      }
      return level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      Message.raw(line(of: event))
    }

    func line(of event: LogEvent) -> String {
      var members = metadata
      for (name, value) in event.metadata ?? [:] { members[name] = value }
      let sorted = members.sorted { $0.key < $1.key }
      var line: JSONObject = [
        "time": .string(ISO8601.text(of: .now) ?? ""), "level": .string(event.level.rawValue),
        "message": .string(event.message.description),
      ]
      for (name, value) in sorted { line[name] = Self.json(value) }
      switch format {
      case .json: return line.text + "\n"
      case .text:
        let head = line.prefix(3).compactMap(\.value.stringValue)
        let rest = line.dropFirst(3).map { "\($0.key)=\(Self.text($0.value))" }
        return (head + rest).joined(separator: " ") + "\n"
      }
    }

    private static func json(_ value: Logger.MetadataValue) -> JSONValue {
      switch value {
      case .string(let text): .string(text)
      case .stringConvertible(let number as Int): .int(Int64(number))
      case .stringConvertible(let number as UInt): .int(Int64(clamping: number))
      case .stringConvertible(let number as Double): .double(number)
      case .stringConvertible(let other): .string(other.description)
      case .array(let values): .array(values.map(json))
      case .dictionary(let members):
        .object(JSONObject(members.sorted { $0.key < $1.key }.map { ($0.key, json($0.value)) }))
      }
    }

    /// A word as it is, so that lines can be read and searched; other text as JSON, in which a client can't begin a line.
    private static func text(_ value: JSONValue) -> String {
      guard let text = value.stringValue, !text.isEmpty,
        text.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") })
      else { return value.text }
      return text
    }
  }
#endif
