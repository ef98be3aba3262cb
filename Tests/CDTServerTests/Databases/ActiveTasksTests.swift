import CDTServer
import Testing

@Suite struct ActiveTasksTests {
  @Test func `an operation is listed with its progress until it ends`() async throws {
    let tasks = ActiveTasks()
    await tasks.run("indexer", on: "db") { report in
      #expect(tasks.json.count == 1)
      #expect(tasks.json[0]["type"] == "indexer")
      #expect(tasks.json[0]["database"] == "db")
      #expect(tasks.json[0]["progress"] == nil)
      report(1, 3)
      #expect(tasks.json[0]["changes_done"] == 1)
      #expect(tasks.json[0]["total_changes"] == 3)
      #expect(tasks.json[0]["progress"] == 33)
      report(0, 0)
      #expect(tasks.json[0]["progress"] == 100)
    }
    #expect(tasks.json == [])
  }
}
