import CDTQuery
import Foundation
import Testing

@testable import borrow

@Suite final class ToolLibraryTests {
  private let directory = FileManager.default.temporaryDirectory.appending(
    path: "borrow-\(UUID().uuidString)")

  deinit {
    try? FileManager.default.removeItem(at: directory)
  }

  /// The library on a device of a neighbour, with the rules that a first sync brings.
  private func library(of user: String = "ann") async throws -> ToolLibrary {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let path = directory.appending(path: user).path
    let passphrase = Encryption.passphrase("a passphrase for tests")
    let admin = try DatastoreManager(directory: path, options: DatastoreOptions(encryption: passphrase))
    let store = try await admin.datastore(named: "library")
    try await store.run { try $0.setRules(ToolLibrary.rules) }
    return try await ToolLibrary(directory: path, user: user, passphrase: "a passphrase for tests")
  }

  @Test func `a tool is found by other forms of the words in its name and notes`() async throws {
    let library = try await library()
    let drill = try await library.offer("drill", notes: "for walls, with the bits")
    try await library.offer("ladder")
    #expect(try await library.search("drills wall") == [drill])
    #expect(try await library.search("ladder drill").isEmpty)
  }

  @Test func `a tool is lent to one neighbour at a time`() async throws {
    let library = try await library()
    try await library.join(as: "Ann")
    try await library.join(as: "Anna")
    let drill = try await library.offer("drill")
    let loan = try await library.borrow(drill)
    await #expect(throws: LibraryError.self) { try await library.borrow(drill) }
    let open = try await library.openLoans()
    #expect(open.map(\.loan.id) == [loan.id])
    #expect(open.first?.tool == drill && open.first?.borrower?.name == "Anna")
    try await library.giveBack(loan)
    #expect(try await library.openLoans().isEmpty)
    try await library.borrow(drill)
  }

  @Test func `a neighbour changes only what is theirs`() async throws {
    let library = try await library()
    let violation = await #expect(throws: RuleViolation.self) {
      try await library.store.save(Tool(name: "saw", owner: Reference(id: "ben")))
    }
    #expect(violation?.reason == "neighbours change only what is theirs")
  }

  @Test(.timeLimit(.minutes(1))) func `the list follows every change`() async throws {
    let library = try await library()
    var updates = try library.tools().makeAsyncIterator()
    #expect(try await updates.next()?.results.isEmpty == true)
    let saw = try await library.offer("saw")
    #expect(try await updates.next()?.results == [saw])
  }

  @Test func `a return and a remark of two devices are both kept`() async throws {
    let library = try await library()
    let loan = try await library.borrow(library.offer("drill"))
    let before = try await library.store.document(withID: loan.id)
    try await library.giveBack(loan)
    // What another device has written at the same time, as a replication brings it.
    let id = try #require(RevisionID("2-0123456789abcdef0123456789abcdef"))
    var body = before.body
    body["remark"] = "where is it?"
    let rival = DocumentRevision(id: loan.id, revisionID: id, body: body)
    try await library.store.write { try $0.forceInsert(rival, history: [id, before.revisionID]) }
    #expect(try await library.merge() == 1)
    let merged = try await library.store.document(withID: loan.id).decode(Loan.self)
    #expect(merged.returned != nil && merged.remark == "where is it?")
    #expect(try await library.merge() == 0)
  }

  @Test func `the model of the guide for Apple's systems is the one of this program`() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let page = try String(contentsOf: root.appending(path: "docs/apple.md"), encoding: .utf8)
    let models = try String(
      contentsOf: root.appending(path: "Examples/Sources/Borrow/Models.swift"), encoding: .utf8)
    let tool = try #require(models.components(separatedBy: "\n\n").first { $0.contains("struct Tool:") })
    let lines = tool.components(separatedBy: "\n").drop { $0.hasPrefix("///") }
    #expect(page.contains(lines.joined(separator: "\n")))
  }
}
