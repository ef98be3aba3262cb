import CDTDatastore
import CDTImport
import FoundationEssentials

/// The targets, by the names of their corpora.
private let targets: [String: Target] = [
  "json": JSONTarget.run,
  "selector": SelectorTarget.run,
  "query": QueryTarget.run,
  "text": TextTarget.run,
  "regex": RegexTarget.run,
  "import": ImportTarget.json,
  "csv": ImportTarget.csv,
  "revision": RevisionTarget.run,
  "fixture": FixtureTarget.run,
  "catalog": CatalogTarget.run,
  "store": StoreTarget.run,
  "recover": RecoverTarget.run,
  "touchdb": TouchDBTarget.run,
]

/// What is done with one input. A property that does not hold ends the process.
typealias Target = @Sendable ([UInt8]) throws -> Void

private let target: Target = {
  let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
  guard let target = targets[name] else {
    fatalError("FUZZ_TARGET is \"\(name)\"; known are \(targets.keys.sorted().joined(separator: ", "))")
  }
  return target
}()

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// libFuzzer's own `main` refers to it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try target(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    expectTyped(error)
  }
  return 0
}

@main enum Main {
  static func main() {
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    _ = runDriver(&count, &arguments, testOneInput)
  }
}
