// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

/// A product that only replication needs.
func replication(_ product: String, _ package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["Replication"]))
}

/// A product that only the server needs.
func server(_ product: String, _ package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["Server"]))
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
    .library(name: "CouchDB", targets: ["CouchDB"]),
    .library(name: "CDTReplication", targets: ["CDTReplication"]),
    .library(name: "CDTRemote", targets: ["CDTRemote"]),
    .library(name: "CDTServer", targets: ["CDTServer"]),
    .executable(name: "cdtquery", targets: ["cdtquery"]),
  ],
  traits: [
    // An app that only stores and queries documents says traits: [], and fetches none of what they need.
    .default(enabledTraits: ["Replication", "Server"]),
    .trait(name: "Replication", description: "Replication with CouchDB, and queries of a CouchDB."),
    .trait(name: "Server", description: "A server that speaks CouchDB's HTTP API."),
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
  targets: [
    // Arrows run one way: each target depends only on those above it.
    .systemLibrary(
      name: "CDTCSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CDTCPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
    .systemLibrary(
      name: "CDTCZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CDTCCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .target(name: "CDTCPlatform"),
    .target(name: "CDTCPage"),
    .target(
      name: "CDTDigest", dependencies: [.target(name: "CDTCCrypto", condition: .when(platforms: [.linux]))],
      swiftSettings: settings),
    .target(name: "CDTJSON", dependencies: ["CDTPlatform"], swiftSettings: settings),
    .target(name: "CDTPlatform", dependencies: ["CDTCPlatform"], swiftSettings: settings),
    .target(
      name: "CDTSQLite", dependencies: ["CDTPlatform", "CDTDigest", "CDTCSQLite"], swiftSettings: settings),
    .target(name: "CDTGzip", dependencies: ["CDTCZlib"], swiftSettings: settings),
    .target(
      name: "CDTDatastore",
      dependencies: [
        "CDTPlatform", "CDTDigest", "CDTJSON", "CDTSQLite", "CDTGzip",
      ],
      swiftSettings: settings),
    .target(
      name: "CDTQuery",
      dependencies: ["CDTPlatform", "CDTDatastore", "CDTDigest", "CDTJSON", "CDTSQLite", "CDTCPCRE2"],
      swiftSettings: settings),
    .target(
      name: "CDTImport",
      dependencies: [
        "CDTDatastore", "CDTQuery", "CDTDigest", "CDTJSON", "CDTSQLite", "CDTGzip", "CDTPlatform",
      ],
      swiftSettings: settings),
    .target(
      name: "CDTRecovery", dependencies: ["CDTDatastore", "CDTJSON", "CDTSQLite", "CDTPlatform"],
      swiftSettings: settings),
    .target(
      name: "CDTQueryTesting", dependencies: ["CDTDatastore", "CDTQuery", "CDTJSON"], swiftSettings: settings),
    .target(
      name: "CloudantSync",
      dependencies: [
        "CDTImport", "CDTDatastore", "CDTQuery", "CDTJSON", "CDTPlatform",
        .target(name: "CDTReplication", condition: .when(traits: ["Replication"])),
      ],
      swiftSettings: settings),
    .target(
      name: "CouchDB",
      dependencies: [
        "CDTDatastore", "CDTDigest", "CDTJSON", "CDTPlatform", "CDTGzip",
      ],
      swiftSettings: settings),
    .target(
      name: "CDTBackup",
      dependencies: ["CouchDB", "CDTDatastore", "CDTDigest", "CDTQuery", "CDTJSON", "CDTPlatform"],
      swiftSettings: settings),
    .target(
      name: "CDTReplication",
      dependencies: [
        "CouchDB", "CDTDatastore", "CDTDigest", "CDTQuery", "CDTJSON", "CDTPlatform", "CDTGzip",
        replication("AsyncHTTPClient", "async-http-client"),
        replication("NIOCore", "swift-nio"),
        replication("NIOPosix", "swift-nio"),
        replication("NIOHTTP1", "swift-nio"),
        replication("NIOSSL", "swift-nio-ssl"),
        replication("Logging", "swift-log"),
        replication("CoreMetrics", "swift-metrics"),
      ],
      swiftSettings: settings),
    .target(
      name: "CDTRemote",
      dependencies: [
        "CDTReplication", "CDTImport", "CouchDB", "CDTDatastore", "CDTQuery", "CDTJSON", "CDTPlatform",
      ],
      swiftSettings: settings),
    .target(
      name: "CDTServer",
      dependencies: [
        "CDTCPage", "CouchDB", "CDTDatastore", "CDTDigest", "CDTQuery", "CDTJSON", "CDTPlatform", "CDTGzip",
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
      exclude: ["Page"], swiftSettings: settings),
    .executableTarget(
      name: "cdtquery",
      dependencies: [
        "CDTImport", "CDTRecovery", "CDTBackup", "CDTDatastore", "CDTQuery", "CDTQueryTesting", "CDTJSON",
        "CDTSQLite", "CDTPlatform",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
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
      swiftSettings: settings),

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
      name: "CDTTestSupport", dependencies: ["CDTCZlib", "CDTGzip"], path: "Tests/Support/CDTTestSupport",
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
        "CDTTestSupport", "cdt-store-worker",
      ],
      exclude: ["Import/Fixtures", "Storage/Fixtures"], swiftSettings: settings),
    .testTarget(
      name: "CDTQueryTests",
      dependencies: [
        "CDTRecovery", "CDTQuery", "CDTQueryTesting", "CDTCSQLite", "CDTTestSupport", "CDTRandomDocuments",
        "cdt-store-worker",
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
