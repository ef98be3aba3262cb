import CDTPlatform
import CDTTestSupport
import Foundation
import Testing

/// What differs between systems is in few modules.
@Suite struct PortabilityTests {
  /// A module that not every system has, and the files that may import it.
  static let modules = [
    (module: "FoundationEssentials", files: ["Base/CDTPlatform/Foundation.swift"]),
    (module: "Glibc", files: [cLibrary]), (module: "Musl", files: [cLibrary]),
    (module: "Android", files: [cLibrary]), (module: "Darwin", files: [cLibrary]),
    (module: "CDTCLibrary", files: ["Base/CDTPlatform/", "Base/CDTDigest/", "Query/CDTSelector/Near/"]),
  ]
  private static let cLibrary = "Base/CDTCLibrary/CLibrary.swift"

  @Test(arguments: modules) func `only few files import a system's module`(module: String, files: [String])
    throws
  {
    let sources = Repository.root.appending(path: "Sources")
    let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter {
      $0.hasSuffix(".swift")
    }
    #expect(paths.count > 100)
    for path in paths where !files.contains(where: path.hasPrefix) {
      let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
      #expect(
        !text.split(separator: "\n").contains { $0.hasSuffix("import \(module)") },
        "\(path) imports \(module)")
    }
  }

  @Test func `the arguments of the process are known without /proc`() {
    #expect(!CurrentProcess.arguments.isEmpty && CurrentProcess.arguments == CommandLine.arguments)
    #expect(CurrentProcess.misencodedArgument == nil)
  }

  @Test func `each import of a system's module is conditional`() throws {
    for name in [Self.cLibrary, "Base/CDTPlatform/Foundation.swift"] {
      let text = try String(
        contentsOf: Repository.root.appending(path: "Sources/\(name)"), encoding: .utf8)
      let imports = text.split(separator: "\n").filter { $0.contains("import ") && !$0.hasPrefix("//") }
      #expect(imports.count >= 2)
      // Within #if, lines are indented.
      for line in imports { #expect(line.hasPrefix("  "), "\(name): \(line)") }
    }
  }

  /// https://developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api
  static let reasons = [
    (
      category: "FileTimestamp",
      functions: ["stat", "fstat", "lstat", "fstatat", "getattrlist", "fgetattrlist", "getattrlistat"]
    ),
    (category: "DiskSpace", functions: ["statfs", "statvfs", "fstatfs", "fstatvfs"]),
    (category: "SystemBootTime", functions: ["mach_absolute_time", "systemUptime"]),
    (category: "ActiveKeyboards", functions: ["activeInputModes"]),
    (category: "UserDefaults", functions: ["UserDefaults"]),
  ]

  @Test(arguments: reasons) func `the privacy manifest has the reasons for what is called`(
    category: String, functions: [String]
  ) throws {
    let sources = Repository.root.appending(path: "Sources")
    let manifest = try PropertyListSerialization.propertyList(
      from: Data(contentsOf: sources.appending(path: "Base/CDTPlatform/PrivacyInfo.xcprivacy")), format: nil)
    let types = try #require((manifest as? [String: Any])?["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
    let isListed = types.contains {
      $0["NSPrivacyAccessedAPIType"] as? String == "NSPrivacyAccessedAPICategory\(category)"
        && ($0["NSPrivacyAccessedAPITypeReasons"] as? [String])?.isEmpty == false
    }
    let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter {
      ($0.hasSuffix(".swift") || $0.hasSuffix(".c") || $0.hasSuffix(".h"))
        && !$0.hasPrefix("Sync/CDTServer") && !$0.hasPrefix("Command")
    }
    let isCalled = try paths.contains { path in
      let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
      return try functions.contains { text.contains(try Regex("\\b\($0)\\b *[(.]")) }
    }
    #expect(isListed == isCalled)
  }

  @Test(arguments: [("Store/CDTCSQLite", "sqlite3"), ("Base/CDTCZlib", "z")])
  func `the library of an SDK is found without pkg-config`(target: String, library: String) throws {
    let map = try String(
      contentsOf: Repository.root.appending(path: "Sources/\(target)/module.modulemap"), encoding: .utf8)
    #expect(map.contains("\n  link \"\(library)\"\n"))
  }

  /// Apple's SDK, or its library, lacks some of these, and others are there with compile options only.
  @Test func `no function of SQLite is used that a library may lack`() throws {
    let optional = [
      "load_extension", "enable_load_extension", "snapshot_", "preupdate_", "session", "changeset",
      "unlock_notify", "stmt_scanstatus", "normalized_sql", "column_database_name", "column_table_name",
      "column_origin_name", "column_decltype", "enable_shared_cache", "key", "rekey", "soft_heap_limit(",
      "global_recover", "thread_cleanup", "memory_alarm",
    ]
    let sources = Repository.root.appending(path: "Sources")
    for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path)
    where path.hasSuffix(".swift") || path.hasSuffix("/shim.h") {
      let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
      for name in optional { #expect(!text.contains("sqlite3_\(name)"), "\(path)") }
    }
  }

  /// Xcode and SwiftPM suppress the warnings of a package that another one uses, and the compiler refuses both.
  @Test func `warnings are errors only where the environment says so`() throws {
    func manifest(_ environment: String) throws -> String {
      try withTemporaryDirectory { directory in
        let command = "env \(environment) swift package --scratch-path '\(directory)' dump-package"
        return String(decoding: try Repository.output(of: command), as: UTF8.self)
      }
    }
    let usual = try manifest("-u CDT_STRICT")
    #expect(usual.contains("InternalImportsByDefault") && !usual.contains("treatAllWarnings"))
    #expect(try manifest("CDT_STRICT=1").contains("treatAllWarnings"))
  }
}
