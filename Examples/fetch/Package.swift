// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "fetch",
    dependencies: [.package(name: "dlm", path: "../..")],
    targets: [
        .executableTarget(name: "fetch", dependencies: [.product(name: "DownloadKit", package: "dlm")])
    ],
    swiftLanguageModes: [.v6]
)
