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
    .library(name: "JSON", targets: ["JSON"]),
    .executable(name: "cdtquery", targets: ["cdtquery"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
  ],
  targets: [
    // Arrows run one way: each target depends only on those above it.
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "JSON", swiftSettings: settings),
    .target(name: "CDTPlatform", swiftSettings: settings),
    .target(name: "SQLite", dependencies: ["CDTPlatform", "CSQLite"], swiftSettings: settings),
    .target(
      name: "CDTDatastore",
      dependencies: [
        "CDTPlatform", "JSON", "SQLite", "CZlib", .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: settings),
    .target(
      name: "CDTQuery", dependencies: ["CDTPlatform", "CDTDatastore", "JSON", "SQLite", "CPCRE2"],
      swiftSettings: settings),
    .target(
      name: "CDTQueryTesting", dependencies: ["CDTDatastore", "CDTQuery", "JSON"], swiftSettings: settings),
    .target(
      name: "CloudantSync", dependencies: ["CDTDatastore", "CDTQuery", "JSON", "SQLite"],
      swiftSettings: settings),
    .executableTarget(
      name: "cdtquery",
      dependencies: [
        "CDTPlatform", "CDTQuery", "CDTQueryTesting", "CloudantSync",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),

    // What tests run as another process; no products.
    .executableTarget(
      name: "store-worker", dependencies: ["CDTQuery", "CSQLite", "TestSupport"],
      path: "Tests/Support/StoreWorker",
      swiftSettings: settings),
    .executableTarget(
      name: "crashtest", dependencies: ["CDTDatastore", "JSON"], path: "Tests/Support/crashtest",
      swiftSettings: settings),

    // What the tests of several modules need.
    .target(name: "TestSupport", path: "Tests/Support/TestSupport", swiftSettings: settings),

    .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "SQLiteTests", dependencies: ["CSQLite", "SQLite"], swiftSettings: settings),
    .testTarget(
      name: "CDTDatastoreTests",
      dependencies: [
        "CDTDatastore", "CDTQuery", "CloudantSync", "JSON", "SQLite", "TestSupport", "crashtest",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: ["Import/Fixtures", "Storage/Fixtures"], swiftSettings: settings),
    .testTarget(
      name: "CDTQueryTests",
      dependencies: ["CDTQuery", "CDTQueryTesting", "CSQLite", "TestSupport", "crashtest", "store-worker"],
      exclude: ["Planning/Goldens", "Fuzz/Histories"],
      swiftSettings: settings),
    .testTarget(name: "CloudantSyncTests", dependencies: ["CloudantSync"], swiftSettings: settings),
    .testTarget(
      name: "cdtqueryTests",
      dependencies: ["cdtquery", "CDTQuery", "CDTQueryTesting", "SQLite", "TestSupport"],
      swiftSettings: settings),
  ]
)
