// swift-tools-version: 6.2

import PackageDescription

// Xcode and SwiftPM suppress the warnings of a package that an app uses, and the compiler refuses both together.
let settings: [SwiftSetting] =
  [.enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("ExistentialAny")]
  + (Context.environment["CDT_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

/// A product that only replication needs.
func replication(_ product: String, _ package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["Replication"]))
}

/// A product that only the server needs.
func server(_ product: String, _ package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["Server"]))
}

/// A module in one of the folders of `Sources`.
func module(
  _ folder: String, _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
  resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)", exclude: exclude,
    resources: resources, swiftSettings: settings)
}

// What Apple asks of a library that calls stat() and statvfs(). Elsewhere it would be a directory beside each program.
#if os(macOS)
  let privacy: (resources: [Resource], exclude: [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#else
  let privacy: (resources: [Resource], exclude: [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

/// A library of the system. Apple's SDKs have some of them, where the module map is enough to find them.
func library(
  _ folder: String, _ name: String, _ pkgConfig: String, _ package: String, brew: String? = nil,
  isInSDK: Bool = false
) -> Target {
  let path = "Sources/\(folder)/\(name)"
  // The manifest runs on the Mac that builds, also for iOS.
  #if os(macOS)
    if isInSDK { return .systemLibrary(name: name, path: path) }
  #endif
  return .systemLibrary(
    name: name, path: path, pkgConfig: pkgConfig,
    providers: [.apt([package])] + (brew.map { [.brew([$0])] } ?? []))
}

let package = Package(
  name: "CDTDatastore",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "CDTDatastore", targets: ["CDTDatastore"]),
    .library(name: "CDTQuery", targets: ["CDTQuery"]),
    .library(name: "CDTImport", targets: ["CDTImport"]),
    .library(name: "CDTRecovery", targets: ["CDTRecovery"]),
    .library(name: "CDTBackup", targets: ["CDTBackup"]),
    .library(name: "CDTQueryTesting", targets: ["CDTQueryTesting"]),
    .library(name: "CloudantSync", targets: ["CloudantSync"]),
    .library(name: "CDTJSON", targets: ["CDTJSON"]),
    .library(name: "CDTReplication", targets: ["CDTReplication"]),
    .library(name: "CDTRemote", targets: ["CDTRemote"]),
    .library(name: "CDTServer", targets: ["CDTServer"]),
    .executable(name: "cdtquery", targets: ["cdtquery"]),
  ],
  traits: [
    // An app that only stores and queries documents says traits: [], and fetches none of what they need.
    .default(enabledTraits: ["Command", "Replication", "Server"]),
    .trait(name: "Command", description: "The command line, cdtquery."),
    .trait(name: "Replication", description: "Replication with CouchDB, and queries of a CouchDB."),
    .trait(name: "Server", description: "A server that speaks CouchDB's HTTP API."),
    .trait(name: "PCRE2", description: "All patterns of PCRE2 on macOS, with Homebrew's library."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    // For CDTServer.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    // For CDTServer and CDTReplication.
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    // For CDTReplication, as are swift-log, swift-metrics and NIO.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
  ],
  // Arrows run one way: each target depends only on those above it, and each folder of Sources on the folders above it.
  targets: [
    library("Base", "CDTCCrypto", "libcrypto", "libssl-dev"),
    library("Base", "CDTCZlib", "zlib", "zlib1g-dev", isInSDK: true),
    .target(name: "CDTCPlatform", path: "Sources/Base/CDTCPlatform"),
    module("Base", "CDTCLibrary"),
    module(
      "Base", "CDTPlatform", ["CDTCLibrary", "CDTCPlatform"], exclude: privacy.exclude,
      resources: privacy.resources),
    module(
      "Base", "CDTDigest",
      [
        "CDTCLibrary", "CDTCPlatform",
        .target(name: "CDTCCrypto", condition: .when(platforms: [.linux])),
      ]),
    module("Base", "CDTGzip", ["CDTCZlib"]),
    module("Base", "CDTJSON", ["CDTPlatform"]),

    library("Store", "CDTCSQLite", "sqlite3", "libsqlite3-dev", isInSDK: true),
    module("Store", "CDTSQLite", ["CDTPlatform", "CDTDigest", "CDTCSQLite"]),
    module("Store", "CDTDatastore", ["CDTPlatform", "CDTDigest", "CDTGzip", "CDTJSON", "CDTSQLite"]),
    module("Store", "CouchDB", ["CDTPlatform", "CDTDigest", "CDTGzip", "CDTJSON", "CDTDatastore"]),

    library("Query", "CDTCPCRE2", "libpcre2-8", "libpcre2-dev", brew: "pcre2"),
    module("Query", "CDTFoundationPattern"),
    module(
      "Query", "CDTSelector",
      [
        "CDTCLibrary", "CDTPlatform", "CDTDigest", "CDTJSON", "CDTDatastore",
        .target(name: "CDTCPCRE2", condition: .when(platforms: [.linux, .android])),
        .target(name: "CDTCPCRE2", condition: .when(platforms: [.macOS], traits: ["PCRE2"])),
        .target(
          name: "CDTFoundationPattern",
          condition: .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS])),
      ]),
    module("Query", "CDTRules", ["CDTJSON", "CDTSQLite", "CDTDatastore", "CDTSelector"]),
    module(
      "Query", "CDTIndex",
      ["CDTPlatform", "CDTDigest", "CDTJSON", "CDTSQLite", "CDTDatastore", "CDTSelector", "CDTRules"]),
    module("Query", "CDTPlan", ["CDTJSON", "CDTDatastore", "CDTSelector", "CDTIndex"]),
    module(
      "Query", "CDTQuery",
      [
        "CDTPlatform", "CDTJSON", "CDTSQLite", "CDTDatastore", "CDTSelector", "CDTRules", "CDTIndex",
        "CDTPlan",
      ]),

    module(
      "Care", "CDTImport",
      ["CDTPlatform", "CDTDigest", "CDTGzip", "CDTJSON", "CDTSQLite", "CDTDatastore", "CDTQuery"]),
    module("Care", "CDTRecovery", ["CDTPlatform", "CDTJSON", "CDTSQLite", "CDTDatastore"]),
    module(
      "Care", "CDTBackup", ["CDTPlatform", "CDTDigest", "CDTJSON", "CDTDatastore", "CouchDB", "CDTQuery"]),
    module("Care", "CDTQueryTesting", ["CDTJSON", "CDTDatastore", "CDTQuery"]),

    module(
      "Sync", "CDTReplication",
      [
        "CDTPlatform", "CDTDigest", "CDTGzip", "CDTJSON", "CDTDatastore", "CouchDB", "CDTQuery",
        replication("AsyncHTTPClient", "async-http-client"),
        replication("NIOCore", "swift-nio"),
        replication("NIOPosix", "swift-nio"),
        replication("NIOHTTP1", "swift-nio"),
        replication("NIOSSL", "swift-nio-ssl"),
        replication("Logging", "swift-log"),
        replication("CoreMetrics", "swift-metrics"),
      ]),
    module(
      "Sync", "CDTRemote",
      ["CDTPlatform", "CDTJSON", "CDTDatastore", "CouchDB", "CDTQuery", "CDTImport", "CDTReplication"]),
    .target(name: "CDTCPage", path: "Sources/Sync/CDTCPage"),
    module(
      "Sync", "CDTServer",
      [
        "CDTPlatform", "CDTDigest", "CDTGzip", "CDTJSON", "CDTDatastore", "CouchDB", "CDTQuery", "CDTImport",
        "CDTBackup", "CDTCPage",
        .target(name: "CDTReplication", condition: .when(traits: ["Replication"])),
        server("Hummingbird", "hummingbird"),
        server("HummingbirdTLS", "hummingbird"),
        server("ServiceLifecycle", "swift-service-lifecycle"),
        server("Logging", "swift-log"),
        server("CoreMetrics", "swift-metrics"),
        server("NIOCore", "swift-nio"),
        server("NIOPosix", "swift-nio"),
        server("NIOHTTP1", "swift-nio"),
        server("NIOSSL", "swift-nio-ssl"),
        server("NIOHTTPTypes", "swift-nio-extras"),
        server("NIOHTTPTypesHTTP1", "swift-nio-extras"),
        server("HTTPTypes", "swift-http-types"),
      ],
      exclude: ["Page"]),

    module(
      "Migration", "CloudantSync",
      [
        "CDTPlatform", "CDTJSON", "CDTDatastore", "CDTQuery", "CDTImport",
        .target(name: "CDTReplication", condition: .when(traits: ["Replication"])),
      ]),

    .executableTarget(
      name: "cdtquery",
      dependencies: [
        "CDTPlatform", "CDTJSON", "CDTSQLite", "CDTDatastore", "CDTQuery", "CDTImport", "CDTRecovery",
        "CDTBackup", "CDTQueryTesting",
        .product(
          name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
        .target(name: "CDTReplication", condition: .when(traits: ["Replication"])),
        .target(name: "CDTRemote", condition: .when(traits: ["Replication"])),
        .target(name: "CDTServer", condition: .when(traits: ["Server"])),
        server("ServiceLifecycle", "swift-service-lifecycle"),
        .product(
          name: "UnixSignals", package: "swift-service-lifecycle",
          condition: .when(traits: ["Replication", "Server"])),
        .product(
          name: "Logging", package: "swift-log", condition: .when(traits: ["Replication", "Server"])),
        server("CoreMetrics", "swift-metrics"),
        .product(
          name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Replication", "Server"])),
      ],
      path: "Sources/Command/cdtquery", swiftSettings: settings),

    // What tests run as another process; no products.
    .executableTarget(
      name: "cdt-store-worker",
      dependencies: ["CDTImport", "CDTQuery", "CDTSQLite", "CDTCSQLite", "CDTTestSupport"],
      path: "Tests/Support/StoreWorker",
      swiftSettings: settings),
    .executableTarget(
      name: "cdt-crashtest",
      dependencies: [
        "CDTImport", "CDTRecovery", "CDTDatastore", "CDTQuery", "CDTJSON", "CDTTestSupport", "CDTWorkloads",
      ],
      path: "Tests/Support/CrashTest", swiftSettings: settings),

    // What the tests of several modules need.
    .target(
      name: "CDTTestSupport", dependencies: ["CDTCZlib", "CDTGzip", "CDTPlatform"],
      path: "Tests/Support/CDTTestSupport",
      swiftSettings: settings),
    .target(
      name: "CDTRandomDocuments", dependencies: ["CDTJSON", "CDTTestSupport"],
      path: "Tests/Support/CDTRandomDocuments", swiftSettings: settings),
    .target(
      name: "CDTServerTestSupport",
      dependencies: [
        "CDTServer", "CDTDatastore", "CDTJSON", "CDTTestSupport",
        server("AsyncHTTPClient", "async-http-client"),
        server("Logging", "swift-log"),
        server("ServiceLifecycle", "swift-service-lifecycle"),
        server("NIOCore", "swift-nio"),
        server("NIOPosix", "swift-nio"),
      ],
      path: "Tests/Support/CDTServerTestSupport", swiftSettings: settings),
    .target(
      name: "CDTWorkloads",
      dependencies: ["CDTImport", "CDTDatastore", "CDTQuery", "CDTJSON", "CDTTestSupport"],
      path: "Tests/Support/CDTWorkloads", swiftSettings: settings),

    // The targets of the package FuzzTargets, for the test that replays their corpus.
    .target(
      name: "CDTFuzzTargets",
      dependencies: [
        "CDTDatastore", "CDTQuery", "CDTImport", "CDTRecovery", "CDTQueryTesting", "CDTJSON", "CDTSQLite",
      ],
      path: "FuzzTargets/Sources/FuzzTargets", exclude: ["Main.swift"], swiftSettings: settings),
    .testTarget(
      name: "FuzzCorpusTests", dependencies: ["CDTFuzzTargets", "CDTTestSupport"], swiftSettings: settings),

    .testTarget(name: "CDTJSONTests", dependencies: ["CDTJSON", "CDTTestSupport"], swiftSettings: settings),
    .testTarget(name: "CDTDigestTests", dependencies: ["CDTDigest"], swiftSettings: settings),
    .testTarget(name: "CDTGzipTests", dependencies: ["CDTGzip", "CDTTestSupport"], swiftSettings: settings),
    .testTarget(
      name: "CDTSQLiteTests", dependencies: ["CDTCSQLite", "CDTDigest", "CDTSQLite", "CDTTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "CDTDatastoreTests",
      dependencies: [
        "CDTImport", "CDTRecovery", "CDTDatastore", "CDTQuery", "CloudantSync", "CDTJSON", "CDTDigest",
        "CDTSQLite", "CDTPlatform",
        "CDTTestSupport", "cdt-store-worker", "cdt-crashtest",
      ],
      exclude: ["Import/Fixtures", "Storage/Fixtures"], swiftSettings: settings),
    .testTarget(
      name: "CDTQueryTests",
      dependencies: [
        "CDTRecovery", "CDTFoundationPattern", "CDTSelector", "CDTRules", "CDTIndex", "CDTPlan", "CDTQuery",
        "CDTQueryTesting",
        "CDTCSQLite",
        "CDTTestSupport",
        "CDTRandomDocuments", "cdt-store-worker",
      ],
      exclude: ["Planning/Goldens", "Fuzz/Histories"],
      swiftSettings: settings),
    .testTarget(
      name: "CDTBackupTests",
      dependencies: ["CDTBackup", "CDTQuery", "CDTJSON", "CDTTestSupport", "CDTRandomDocuments"],
      swiftSettings: settings),
    .testTarget(
      name: "CloudantSyncTests", dependencies: ["CloudantSync", "CDTTestSupport", "CDTServerTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "cdtqueryTests",
      dependencies: [
        "CDTImport", "cdtquery", "CDTQuery", "CDTQueryTesting", "CDTSQLite", "CDTTestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CouchDBTests", dependencies: ["CouchDB", "CDTDatastore", "CDTJSON", "CDTTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "CDTServerTests",
      dependencies: [
        "CDTServer", "CouchDB", "CDTDatastore", "CDTQuery", "CDTJSON", "CDTPlatform", "CDTGzip",
        "CDTTestSupport", "CDTServerTestSupport",
        "cdtquery", server("AsyncHTTPClient", "async-http-client"),
        server("Logging", "swift-log"),
        server("CoreMetrics", "swift-metrics"),
        server("ServiceLifecycle", "swift-service-lifecycle"),
        server("NIOCore", "swift-nio"),
        server("NIOPosix", "swift-nio"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CDTReplicationTests",
      dependencies: [
        "CDTImport", "CDTRemote", "CDTReplication", "CDTServer", "CouchDB", "CDTDatastore", "CDTQuery",
        "CDTQueryTesting", "CDTJSON",
        "CDTGzip", "CDTTestSupport", "CDTServerTestSupport", "CDTRandomDocuments", "cdtquery",
        server("Logging", "swift-log"),
        replication("CoreMetrics", "swift-metrics"),
        server("NIOCore", "swift-nio"),
        server("NIOPosix", "swift-nio"),
        server("NIOSSL", "swift-nio-ssl"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ReliabilityTests",
      dependencies: [
        "CDTImport", "CDTDatastore", "CDTQuery", "CDTSQLite", "CDTJSON", "CDTTestSupport", "CDTWorkloads",
        "cdt-crashtest", "cdt-store-worker", "cdtquery",
      ],
      swiftSettings: settings),
  ]
)

// Most tests, and what they use, need Linux. See scripts/on-a-mac.sh.
if Context.environment["CDT_PORTABLE"] != nil {
  package.targets.removeAll { $0.path?.hasPrefix("Sources/") != true && $0.name != "CDTDigestTests" }
}

// The examples and the benchmarks see what any user of the library sees: the public API.
if Context.environment["CDT_EXTRAS"] != nil {
  func program(
    _ path: String, _ name: String, _ dependencies: [Target.Dependency], packageAccess: Bool = false
  ) -> Target {
    .executableTarget(
      name: name, dependencies: dependencies, path: path, packageAccess: packageAccess,
      swiftSettings: settings)
  }
  let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
  package.targets += [
    program("Examples/Sources/Borrow", "borrow", ["CDTQuery", "CDTReplication", arguments]),
    .testTarget(
      name: "BorrowTests", dependencies: ["borrow", "CDTQuery", "people", "document-service"],
      path: "Examples/Tests/BorrowTests", packageAccess: false,
      swiftSettings: settings),
    program("Examples/Sources/People", "people", ["CDTQuery"]),
    program(
      "Examples/Sources/DocumentService", "document-service",
      ["CDTQuery", arguments, .product(name: "Hummingbird", package: "hummingbird")]),

    .systemLibrary(
      name: "CSQLiteYardstick", path: "Benchmarks/Sources/CSQLiteYardstick", pkgConfig: "sqlite3"),
    .systemLibrary(
      name: "CCryptoYardstick", path: "Benchmarks/Sources/CCryptoYardstick", pkgConfig: "libcrypto"),
    program(
      "Benchmarks/Sources/Benchmarks", "Benchmarks",
      [
        "CSQLiteYardstick", "CCryptoYardstick", "CDTJSON", "CDTDatastore", "CDTQuery", "CDTImport", arguments,
      ], packageAccess: true),
  ]
}
