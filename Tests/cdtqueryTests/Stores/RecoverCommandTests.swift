import CDTPlatform
import CDTTestSupport
import FoundationEssentials
import Testing

@Suite struct RecoverCommandTests {
  private static let draft = "people/.saved.recovering-"

  /// Exchanges the first byte of a page of the store's file.
  private static func damage(_ space: Workspace, page: Int) throws {
    let path = space.path("people/contacts/db.sync")
    var data = try Data(contentsOf: URL(filePath: path))
    data[page * 4_096] ^= 0xFF
    try data.write(to: URL(filePath: path))
  }

  @Test func `readable documents are saved, with their indexes, and each loss is a line`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age", "--name", "by_age")
    try Self.damage(space, page: 0)
    let result = try space.run("recover", "people/contacts", "people/saved")
    #expect(result.status == 1)
    #expect(result.lines.count == 1)
    #expect(result.output.hasPrefix(#"{"kind":"database","finding":""#))
    #expect(result.errors == "cdtquery: saved 3 documents, 3 revisions, 0 attachments; 1 losses\n")
    #expect(try space.run("find", "people/saved", #"{"age":36}"#, "--ids").output == "mike\n")
    #expect(try space.run("index", "list", "people/saved").output.contains("by_age"))
    #expect(try space.run("check", "people/saved").status == 0)
    #expect(try space.run("recover", "people/contacts", "people/saved").status == 73)
  }

  @Test func `a file that is a symbolic link is refused with the remedy`() throws {
    let space = try Workspace(Workspace.people)
    for target in ["elsewhere", "nowhere"] {
      try space.shell("cd people/contacts; [ -L db.sync ] || mv db.sync elsewhere; ln -sf \(target) db.sync")
      let result = try space.run("recover", "people/contacts", "people/saved")
      #expect(
        result.errors
          == "cdtquery: people/contacts/db.sync is a symbolic link, and nothing is written through it; replace it with its target\n"
      )
      #expect(result.status == 74)
    }
    #expect(!space.exists("people/saved"))
  }

  @Test func `a recovery that fails leaves nothing`() throws {
    let space = try Workspace(Workspace.people)
    // Nothing can be renamed to the name of a file's content.
    let result = try space.shell(
      "ulimit -f 40; trap '' XFSZ; cdtquery recover people/contacts people/saved --quiet")
    #expect(result.status > 1, "\(result.errors)")
    #expect(try Files.names(in: space.path("people")) == ["contacts"])
  }

  @Test func `files of interrupted recoveries are removed, and nothing else`() throws {
    let space = try Workspace(Workspace.people)
    func make(_ name: String) throws {
      try FileManager.default.createDirectory(atPath: space.path(name), withIntermediateDirectories: true)
    }
    let (abandoned, theirs) = (Self.draft + RandomID.uuid(), Self.draft + RandomID.uuid())
    try make("\(abandoned)/saved/attachments")
    try make("\(theirs)/notes")
    try make("\(Self.draft)notes/saved")
    try make("people/.other.recovering-\(RandomID.uuid())/other")
    let running = Self.draft + RandomID.uuid()
    try make("\(running)/saved")
    let lock = try OpenFile(space.path(running), for: .reading)
    #expect(try lock.lock())
    #expect(try space.run("recover", "people/contacts", "people/saved").status == 0)
    withExtendedLifetime(lock) {}
    #expect(!space.exists(abandoned))
    #expect(space.exists("\(theirs)/notes") && space.exists("\(Self.draft)notes/saved"))
    #expect(space.exists("\(running)/saved"))
    let names = try Files.names(in: space.path("people"))
    #expect(names.count { $0.contains(".recovering-") } == 4)
  }

  @Test func `definitions of indexes that can't be read are a loss, and the documents are saved`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age", "--name", "by_age")
    let file = space.path("people/contacts/extensions/com.cloudant.sync.query/indexes.json")
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
    let result = try space.run("recover", "people/contacts", "people/saved")
    #expect(result.status == 1)
    #expect(result.lines.count == 1)
    #expect(result.output.hasPrefix(#"{"kind":"index","finding":"the definitions of the indexes are lost: "#))
    #expect(result.errors == "cdtquery: saved 3 documents, 3 revisions, 0 attachments; 1 losses\n")
  }

  @Test func `an index that can't be created is a loss, and the others are saved`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age", "--name", "by_age")
    try space.write(
      """
      [{"name": "a", "type": "text", "fields": ["x"]}, {"name": "a", "type": "json", "fields": ["y"]},
       {"name": "by_age", "type": "json", "fields": ["age"]}]
      """, to: "people/contacts/extensions/com.cloudant.sync.query/indexes.json")
    let result = try space.run("recover", "people/contacts", "people/saved")
    #expect(result.status == 1)
    #expect(result.lines.count == 1)
    #expect(result.output.hasPrefix(#"{"kind":"index","finding":"the index \"a\" can't be created: "#))
    #expect(try space.run("index", "list", "people/saved").output.contains("by_age"))
  }
}
