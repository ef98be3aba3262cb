import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Testing

/// The table of routes.
@Suite struct RouteTests {
  /// The methods and paths of `docs/openapi.yaml`, such as `GET /{db}`.
  private static func documented() throws -> Set<String> {
    let text = try Repository.page("openapi.yaml")
    var (path, found): (Substring, Set<String>) = ("", [])
    for line in text.split(separator: "\n") where line.hasSuffix(":") {
      if line.hasPrefix("  /") {
        path = line.dropFirst(2).dropLast()
      } else if line.hasPrefix("components:") {
        break
      } else if line.hasPrefix("    "), !line.hasPrefix("     ") {
        let method = line.dropFirst(4).dropLast().replacing("x-", with: "").uppercased()
        if method != "PARAMETERS" { found.insert("\(method) \(path)") }
      }
    }
    return found
  }

  @Test func `docs/openapi.yaml has every route, and the server has every route of it`() throws {
    let routes = Set(Route.list)
    #expect(routes.count == Route.list.count)
    let documented = try Self.documented()
    #expect(routes.subtracting(documented).sorted() == [])
    #expect(documented.subtracting(routes).sorted() == [])
  }

  @Test(arguments: [
    ("PATCH", "/", "GET,HEAD"), ("POST", "/_up", "GET,HEAD"), ("PUT", "/_session", "DELETE,GET,HEAD,POST"),
    ("PATCH", "/db", "DELETE,GET,HEAD,POST,PUT"), ("GET", "/db/_find", "POST"),
    ("DELETE", "/db/_security", "GET,HEAD,PUT"), ("PATCH", "/db/a", "COPY,DELETE,GET,HEAD,POST,PUT"),
    ("PATCH", "/db/_design/a", "COPY,DELETE,GET,HEAD,POST,PUT"),
    ("PATCH", "/db/_design%2Fa", "COPY,DELETE,GET,HEAD,POST,PUT"),
    ("POST", "/db/a/b/c", "DELETE,GET,HEAD,PUT"),
    ("POST", "/db/_local/a", "COPY,DELETE,GET,HEAD,PUT"), ("GET", "/db/%5Ffind", "POST"),
    ("GET", "/db/_index/_design/a/json/b", "DELETE"), ("GET", "/db/_index/a/json/b", "DELETE"),
  ]) func `a method that a resource does not have is refused with those that it has`(
    method: String, path: String, allowed: String
  ) async throws {
    try await withServer { server in
      let reply = try await server.send(method, path)
      #expect(reply.status == 405)
      #expect(reply.headers["allow"] == allowed)
    }
  }
}
