#if Server
  import ArgumentParser
  import CDTPlatform

  /// A file with options of a command, each on a line by its long name. `#` begins a comment line.
  ///
  /// ```
  /// bind = 0.0.0.0:5984
  /// cors = https://app.example.com
  /// cors = https://admin.example.com
  /// read-only
  /// ```
  struct OptionFile {
    private struct Line {
      let number: Int
      let name: String
      /// `--bind=0.0.0.0:5984`
      let argument: String
    }

    private let path: String
    private var lines: [Line] = []

    /// The number of bytes that a file may have.
    private static let maximumLength = 1 << 20

    /// Reads a file. Each option is parsed as if it were on the command line.
    ///
    /// - Parameters:
    ///   - command: The command, which needs one argument besides options.
    ///   - repeatable: The options that may be given several times.
    /// - Throws: ``ToolError`` that names the line.
    init(
      _ path: String, of command: (some ParsableCommand).Type, repeatable: Set<String>
    ) throws {
      self.path = path
      for (number, text) in try Self.texts(of: path) {
        guard let line = try Self.line(number, text, path) else { continue }
        do {
          guard line.name != "config" else {
            throw Refused(reason: "a file of options can't name another one")
          }
          let earlier = repeatable.contains(line.name) ? nil : lines.first { $0.name == line.name }
          if let earlier { throw Refused(reason: "\(line.name) is already in line \(earlier.number)") }
          _ = try command.parse([".", line.argument])
        } catch let refused as Refused {
          throw Self.error(path, number, refused.reason)
        } catch {
          // Not an option but a request for help, or the like.
          guard !command.exitCode(for: error).isSuccess else {
            throw Self.error(path, number, "Unknown option '--\(line.name)'")
          }
          throw Self.error(path, number, command.message(for: error))
        }
        lines.append(line)
      }
    }

    private struct Refused: Error {
      let reason: String
    }

    /// The options as arguments, without those that the arguments of the command line have.
    func arguments(besides given: [String]) -> [String] {
      let names = given.prefix { $0 != "--" }.map { String($0.prefix { $0 != "=" }) }
      return lines.filter { !names.contains("--\($0.name)") }.map(\.argument)
    }

    private static func texts(of path: String) throws(ToolError) -> [(number: Int, text: String)] {
      var texts: [(number: Int, text: String)] = []
      for line in try bytes(of: path).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        guard let text = String(validating: line, as: UTF8.self) else {
          throw error(path, texts.count + 1, "the line is not UTF-8")
        }
        texts.append((texts.count + 1, text))
      }
      return texts
    }

    private static func bytes(of path: String) throws(ToolError) -> [UInt8] {
      let bytes: [UInt8]?
      do throws(SystemError) {
        bytes = try OpenFile.regular(path)?.bytes(at: 0, count: maximumLength + 1)
      } catch {
        throw .unreadable(path, error)
      }
      guard let bytes, bytes.count <= maximumLength else {
        throw ToolError(
          .data, "\(path) is not a file, or has more than \(maximumLength) bytes; check the path")
      }
      return bytes
    }

    private static func line(_ number: Int, _ text: String, _ path: String) throws -> Line? {
      let text = text.trimmed
      guard !text.isEmpty, !text.hasPrefix("#") else { return nil }
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0]).trimmed
      guard name.utf8.first?.isLetter == true,
        name.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") })
      else {
        throw error(
          path, number,
          #"the line is not an option; write its long name without hyphens, as in "port = 5984""#)
      }
      let value = parts.count > 1 ? "=\(String(parts[1]).trimmed)" : ""
      return Line(number: number, name: name, argument: "--\(name)\(value)")
    }

    private static func error(_ path: String, _ line: Int, _ reason: String) -> ToolError {
      ToolError(.data, "\(path), line \(line): \(reason)")
    }
  }

  extension String {
    /// Without spaces, tabs and carriage returns around it.
    fileprivate var trimmed: String {
      func isSpace(_ character: Character) -> Bool { [" ", "\t", "\r"].contains(character) }
      return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
  }
#endif
