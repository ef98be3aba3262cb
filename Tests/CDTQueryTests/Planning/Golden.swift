import FoundationEssentials
import Testing

/// Compares text with a file under `Goldens/`; `RECORD_GOLDENS=1` writes the file and fails, so that its change is
/// looked at.
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Goldens/\(name)")
  let known = try? String(contentsOf: file, encoding: .utf8)
  if known == text + "\n" { return }
  if ProcessInfo.processInfo.environment["RECORD_GOLDENS"] == "1" {
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try (text + "\n").write(to: file, atomically: true, encoding: .utf8)
  }
  Issue.record("\(name) is not as it was:\n\(text)", sourceLocation: sourceLocation)
}
