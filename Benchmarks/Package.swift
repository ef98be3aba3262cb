// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

// A package of its own, so that building the library never builds the measuring of it. It sees what any user of the
// library sees: the public API.
let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "CDTDatastore", path: "..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLiteYardstick", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CCryptoYardstick", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CSQLiteYardstick", "CCryptoYardstick",
        .product(name: "CDTDatastore", package: "CDTDatastore"),
        .product(name: "CDTQuery", package: "CDTDatastore"),
        .product(name: "CDTImport", package: "CDTDatastore"),
        .product(name: "CDTJSON", package: "CDTDatastore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
  ]
)
