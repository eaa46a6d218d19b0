// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "background",
    dependencies: [.package(name: "dlm", path: "../..")],
    targets: [
        .executableTarget(name: "background", dependencies: [.product(name: "DownloadKit", package: "dlm")])
    ],
    swiftLanguageModes: [.v6]
)
