import CDTTestSupport
import Foundation
import Testing

/// Pages whose examples use modules that are not here, or servers.
@Suite struct CompiledPageTests {
  /// What the examples use of SwiftUI, and of Foundation on Apple's systems.
  private static let declarations = """
    import CDTQuery
    import CDTReplication
    import Foundation

    @MainActor protocol View {
      associatedtype Body: View
      @ViewBuilder var body: Body { get }
    }
    extension Never: View { var body: Never { fatalError() } }
    @resultBuilder enum ViewBuilder { static func buildBlock<Content: View>(_ content: Content) -> Content { content } }
    @propertyWrapper struct State<Value> {
      init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
      var wrappedValue: Value
    }
    struct Text: View {
      init(_ text: String) {}
      var body: Never { fatalError() }
    }
    struct List: View {
      init<Data: RandomAccessCollection, Row: View>(_ data: Data, @ViewBuilder row: (Data.Element) -> Row)
      where Data.Element: Identifiable {}
      var body: Never { fatalError() }
    }
    enum ScenePhase { case background, inactive, active }
    struct EnvironmentValues { var scenePhase: ScenePhase { .active } }
    @propertyWrapper struct Environment<Value> {
      init(_ path: KeyPath<EnvironmentValues, Value>) {}
      var wrappedValue: Value { fatalError() }
    }
    @MainActor protocol Scene {}
    extension Scene {
      func onChange<Value: Equatable>(of value: Value, _ action: (Value, Value) -> Void) -> some Scene { self }
    }
    struct WindowGroup: Scene { init<Content: View>(@ViewBuilder content: () -> Content) {} }
    @MainActor protocol App {
      associatedtype Body: Scene
      var body: Body { get }
      init()
    }
    extension FileManager { func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? { nil } }
    enum FileProtectionType { case completeUntilFirstUserAuthentication }
    extension FileAttributeKey { static var protectionKey: FileAttributeKey { FileAttributeKey(rawValue: "") } }


    """

  /// What the examples use of the program `borrow`.
  private static let library = """
    enum Kind: String, Codable, CaseIterable { case person, tool, loan }
    struct Person: DocumentModel {
      var id: String
      var revision: RevisionID?
    }
    struct ToolLibrary: Sendable {
      let store: Datastore
      func tools() throws -> LiveQuery<Tool> { try store.live(Tool.self, where: { $0.kind == .tool }, sort: \\.name.ascending) }
    }


    """

  @Test func `the examples compile`() throws {
    try Self.expectCompiles(pages: ["docs/apple.md"], blocks: 4) {
      Self.declarations + Self.library + $0.joined(separator: "\n\n")
    }
  }

  @Test func `the views of the guide to live queries compile`() throws {
    try Self.expectCompiles(pages: ["docs/live.md"], blocks: 3, where: { $0.contains("some View") }) {
      Self.declarations
        + """
        struct Errand: DocumentModel {
          var id = UUID().uuidString
          var revision: RevisionID?
          var title: String
          var isDone = false
        }

        """ + $0.joined(separator: "\n\n")
    }
  }

  @Test func `the views in comments compile`() throws {
    let live = "Sources/Query/CDTQuery/Live"
    let pages = [
      "\(live)/LiveResults.swift", "\(live)/LiveDocument.swift",
      "Sources/Sync/CDTReplication/LiveReplication.swift",
    ]
    try Self.expectCompiles(pages: pages, blocks: 3) {
      Self.declarations
        + """
        struct Task: DocumentModel {
          var id = UUID()
          var revision: RevisionID?
          var title: String
          var due: Date?
          var isDone = false
        }

        """ + $0.joined(separator: "\n\n")
    }
  }

  @Test func `the examples of the README compile`() throws {
    try Self.expectCompiles(pages: ["README.md"], blocks: 3) { blocks in
      """
      import CDTQuery
      import CDTReplication
      struct Person: DocumentModel {
        var id: String
        var revision: RevisionID?
        var age: Int
      }
      func example(_ contacts: Datastore, _ password: String, _ show: ([Person]) -> Void) async throws {
      \(blocks.dropFirst().joined(separator: "\n"))
      }
      """
    }
  }

  private static func expectCompiles(
    pages: [String], blocks count: Int, where isIncluded: (String) -> Bool = { _ in true },
    _ program: ([String]) -> String
  ) throws {
    let text = try pages.map {
      try String(contentsOf: Repository.root.appending(path: $0), encoding: .utf8)
    }.joined(separator: "\n").replacing(/(?m)^ *\/\/\/ ?/, with: "")
    let blocks = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }.filter(isIncluded)
    #expect(blocks.count == count)
    // The modules of C that other packages have.
    let built = try BuiltProgram.directory()
    let checkouts = Repository.root.appending(path: ".build/checkouts")
    let maps =
      try FileManager.default.contentsOfDirectory(atPath: built.path).filter { $0.hasSuffix(".build") }
      .map { "\(built.path)/\($0)/module.modulemap" }.filter(FileManager.default.fileExists)
      + FileManager.default.subpathsOfDirectory(atPath: checkouts.path).filter {
        $0.hasSuffix("/include/module.modulemap")
      }.map { "\(checkouts.path)/\($0)" }
    let options = maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    try withTemporaryDirectory { (directory: String) throws in
      let file = "\(directory)/page.swift"
      func diagnostics(_ text: String) throws -> String {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return try CompilerCheck.diagnostics(of: file, options)
      }
      let (right, wrong) = (program(blocks), program(blocks).replacing(".live(", with: ".life("))
      #expect(try diagnostics(right) == "")
      #expect(try diagnostics(wrong).contains("error"))
    }
  }
}
