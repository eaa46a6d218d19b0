// swift-tools-version: 6.1
import PackageDescription

/// CI sets DLM_STRICT=1: a warning in our own code ends the build.
let strict = Context.environment["DLM_STRICT"] == "1"
let swiftSettings: [SwiftSetting] =
    [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility")]
    + (strict ? [.unsafeFlags(["-warnings-as-errors"])] : [])

let package = Package(
    name: "dlm",
    products: [
        .executable(name: "dlm", targets: ["dlm"]),
        .library(name: "DownloadKit", targets: ["DownloadKit"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
    ],
    targets: [
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "CSystem", linkerSettings: [.linkedLibrary("crypto")]),
        .target(
            name: "DownloadCore",
            dependencies: ["CSystem", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: swiftSettings),
        .target(
            name: "CurlTransport",
            dependencies: [
                "CCurl", "CSystem", "DownloadCore", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "DownloadStorage",
            dependencies: ["CSystem", "DownloadCore", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: swiftSettings),
        .target(
            name: "DownloadKit",
            dependencies: ["DownloadCore", "CurlTransport", "DownloadStorage"],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "dlm",
            dependencies: [
                "DownloadKit", "CSystem", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swiftSettings),

        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "DownloadTestSupport",
            dependencies: [
                "CSystem", "CTestSupport", "DownloadCore", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/DownloadTestSupport", swiftSettings: swiftSettings),
        .testTarget(name: "ArchitectureTests", swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadCoreTests",
            dependencies: [
                "CSystem", "DownloadCore", "DownloadTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "CurlTransportTests",
            dependencies: [
                "CurlTransport", "DownloadCore", "DownloadTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadStorageTests",
            dependencies: [
                "DownloadStorage", "DownloadCore", "DownloadTestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Fixtures"], swiftSettings: swiftSettings),
        .testTarget(
            name: "DlmTests", dependencies: ["dlm", "DownloadCore"], swiftSettings: swiftSettings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: ["dlm", "DownloadCore", "DownloadTestSupport"],
            swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
