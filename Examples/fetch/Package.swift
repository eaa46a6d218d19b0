// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "fetch",
    // Without background sessions, a fifth of the packages and of the time is enough for the build.
    dependencies: [.package(name: "dlm", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "fetch", dependencies: [.product(name: "DownloadKit", package: "dlm")])
    ],
    swiftLanguageModes: [.v6]
)
