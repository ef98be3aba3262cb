// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "CDTDatastore",
  products: [
    .library(name: "CDTDatastore", targets: ["CDTDatastore"]),
    .library(name: "CDTQuery", targets: ["CDTQuery"]),
    .library(name: "CDTQueryTesting", targets: ["CDTQueryTesting"]),
    .library(name: "CloudantSync", targets: ["CloudantSync"]),
    .library(name: "CDTJSON", targets: ["CDTJSON"]),
    .library(name: "CouchDB", targets: ["CouchDB"]),
    .library(name: "CDTReplication", targets: ["CDTReplication"]),
    .library(name: "CDTServer", targets: ["CDTServer"]),
    .executable(name: "cdtquery", targets: ["cdtquery"]),
    // Apart from cdtquery, which compiles in half the time without SwiftNIO.
    .executable(name: "cdtquery-server", targets: ["cdtquery-server"]),
    // Of use to the tests only, which load it into processes.
    .library(name: "CDTFaults", type: .dynamic, targets: ["CDTFaults"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    // For CDTServer alone.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    // For CDTReplication alone.
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
    .systemLibrary(name: "CDTCMalloc"),
    .target(name: "CDTJSON", dependencies: ["CDTPlatform"], swiftSettings: settings),
    .target(name: "CDTPlatform", swiftSettings: settings),
    .target(name: "CDTSQLite", dependencies: ["CDTPlatform", "CDTCSQLite"], swiftSettings: settings),
    .target(name: "CDTGzip", dependencies: ["CDTCZlib"], swiftSettings: settings),
    .target(
      name: "CDTDatastore",
      dependencies: [
        "CDTPlatform", "CDTJSON", "CDTSQLite", "CDTGzip", .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: settings),
    .target(
      name: "CDTQuery", dependencies: ["CDTPlatform", "CDTDatastore", "CDTJSON", "CDTSQLite", "CDTCPCRE2"],
      swiftSettings: settings),
    .target(
      name: "CDTQueryTesting", dependencies: ["CDTDatastore", "CDTQuery", "CDTJSON"], swiftSettings: settings),
    .target(
      name: "CloudantSync",
      dependencies: ["CDTDatastore", "CDTQuery", "CDTReplication", "CDTJSON", "CDTPlatform"],
      swiftSettings: settings),
    .target(
      name: "CouchDB",
      dependencies: [
        "CDTDatastore", "CDTJSON", "CDTPlatform", "CDTGzip",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: settings),
    .target(
      name: "CDTReplication",
      dependencies: [
        "CouchDB", "CDTDatastore", "CDTQuery", "CDTJSON", "CDTPlatform",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: settings),
    .target(
      name: "CDTServer",
      dependencies: [
        "CouchDB", "CDTDatastore", "CDTQuery", "CDTJSON", "CDTPlatform", "CDTGzip",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdTLS", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      swiftSettings: settings),
    .target(
      name: "CDTCommandLine",
      dependencies: [
        "CDTDatastore", "CDTQuery", "CDTQueryTesting", "CDTJSON", "CDTSQLite", "CDTPlatform",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "cdtquery-server",
      dependencies: [
        "CDTCommandLine", "CDTReplication", "CDTServer", "CDTDatastore", "CDTQuery", "CDTQueryTesting",
        "CDTJSON", "CDTPlatform", "CDTCMalloc",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "cdtquery",
      dependencies: [
        "CDTCommandLine", "CDTPlatform", "CDTSQLite", "CDTQuery", "CDTQueryTesting",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),

    // What tests run as another process; no products.
    .executableTarget(
      name: "cdt-store-worker", dependencies: ["CDTQuery", "CDTCSQLite", "CDTTestSupport"],
      path: "Tests/Support/StoreWorker",
      swiftSettings: settings),
    .executableTarget(
      name: "cdt-crashtest",
      dependencies: ["CDTDatastore", "CDTQuery", "CDTJSON", "CDTTestSupport", "CDTWorkloads"],
      path: "Tests/Support/CrashTest", swiftSettings: settings),
    .target(name: "CDTFaults", path: "Tests/Support/CDTFaults"),

    // What the tests of several modules need.
    .target(name: "CDTTestSupport", path: "Tests/Support/CDTTestSupport", swiftSettings: settings),
    .target(
      name: "CDTRandomDocuments", dependencies: ["CDTJSON", "CDTTestSupport"],
      path: "Tests/Support/CDTRandomDocuments", swiftSettings: settings),
    .target(
      name: "CDTServerTestSupport",
      dependencies: [
        "CDTServer", "CDTDatastore", "CDTJSON",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ],
      path: "Tests/Support/CDTServerTestSupport", swiftSettings: settings),
    .target(
      name: "CDTWorkloads", dependencies: ["CDTDatastore", "CDTQuery", "CDTJSON", "CDTTestSupport"],
      path: "Tests/Support/CDTWorkloads", swiftSettings: settings),

    .testTarget(name: "CDTJSONTests", dependencies: ["CDTJSON", "CDTTestSupport"], swiftSettings: settings),
    .testTarget(name: "CDTGzipTests", dependencies: ["CDTGzip", "CDTTestSupport"], swiftSettings: settings),
    .testTarget(name: "CDTSQLiteTests", dependencies: ["CDTCSQLite", "CDTSQLite"], swiftSettings: settings),
    .testTarget(
      name: "CDTDatastoreTests",
      dependencies: [
        "CDTDatastore", "CDTQuery", "CloudantSync", "CDTJSON", "CDTSQLite", "CDTPlatform", "CDTTestSupport",
        "cdt-store-worker",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: ["Import/Fixtures", "Storage/Fixtures"], swiftSettings: settings),
    .testTarget(
      name: "CDTQueryTests",
      dependencies: [
        "CDTQuery", "CDTQueryTesting", "CDTCSQLite", "CDTTestSupport", "CDTRandomDocuments",
        "cdt-store-worker",
      ],
      exclude: ["Planning/Goldens", "Fuzz/Histories"],
      swiftSettings: settings),
    .testTarget(
      name: "CloudantSyncTests", dependencies: ["CloudantSync", "CDTServerTestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "cdtqueryTests",
      dependencies: [
        "cdtquery", "cdtquery-server", "CDTQuery", "CDTQueryTesting", "CDTSQLite", "CDTTestSupport",
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
        "cdtquery-server", .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CDTReplicationTests",
      dependencies: [
        "CDTReplication", "CDTServer", "CouchDB", "CDTDatastore", "CDTQuery", "CDTQueryTesting", "CDTJSON",
        "CDTTestSupport", "CDTServerTestSupport", "CDTRandomDocuments", "cdtquery-server",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ReliabilityTests",
      dependencies: [
        "CDTDatastore", "CDTQuery", "CDTJSON", "CDTTestSupport", "CDTWorkloads", "cdt-crashtest",
        "cdt-store-worker", "cdtquery",
      ],
      swiftSettings: settings),
  ]
)
