// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "hub",
    // This program needs no background sessions, so it fetches and builds no swift-nio.
    dependencies: [.package(name: "dlm", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "hub", dependencies: [.product(name: "DownloadKit", package: "dlm")])
    ],
    swiftLanguageModes: [.v6]
)
