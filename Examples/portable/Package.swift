// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "portable",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "dlm", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "portable",
            dependencies: [.product(name: "DownloadKit", package: "dlm", condition: .when(platforms: [.linux]))])
    ],
    swiftLanguageModes: [.v6]
)
