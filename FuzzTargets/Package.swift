// swift-tools-version: 5.8
// 5.8 is the last version for which SwiftPM passes no package name of its own.

import PackageDescription

// The name that SwiftPM gives to the package in the directory above. With it, `package` declarations of the library are visible.
let library = Context.packageDirectory.split(separator: "/").dropLast().last.map(String.init) ?? ""
let name = String(library.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })

// A package of its own, so that building the library never builds it. `scripts/fuzz.sh` builds it with the flags of libFuzzer,
// without which it does not link.
let package = Package(
  name: "FuzzTargets",
  dependencies: [.package(name: "CDTDatastore", path: "..")],
  targets: [
    .executableTarget(
      name: "FuzzTargets",
      dependencies: [
        .product(name: "CDTDatastore", package: "CDTDatastore"),
        .product(name: "CDTQuery", package: "CDTDatastore"),
        .product(name: "CDTImport", package: "CDTDatastore"),
        .product(name: "CDTRecovery", package: "CDTDatastore"),
        .product(name: "CDTQueryTesting", package: "CDTDatastore"),
        .product(name: "CDTJSON", package: "CDTDatastore"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .unsafeFlags(["-swift-version", "6", "-warnings-as-errors", "-package-name", name]),
      ])
  ]
)
