// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

// A package of its own, so that building the library fetches nothing that only an example needs. It sees what any user of
// the library sees: the public API.
let package = Package(
  name: "Examples",
  dependencies: [
    .package(name: "CDTDatastore", path: "..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
  ],
  targets: [
    .target(
      name: "ToDo",
      dependencies: [.product(name: "CDTQuery", package: "CDTDatastore")],
      swiftSettings: settings),
    .testTarget(name: "ToDoTests", dependencies: ["ToDo"], swiftSettings: settings),
    .executableTarget(
      name: "bookmarks",
      dependencies: [
        .product(name: "CDTQuery", package: "CDTDatastore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources/Bookmarks",
      swiftSettings: settings),
    .executableTarget(
      name: "document-service",
      dependencies: [
        .product(name: "CDTQuery", package: "CDTDatastore"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ],
      path: "Sources/DocumentService",
      swiftSettings: settings),
  ]
)
