// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "mirror",
    dependencies: [.package(name: "dlm", path: "../..")],
    targets: [
        .executableTarget(name: "mirror", dependencies: [.product(name: "DownloadKit", package: "dlm")])
    ],
    swiftLanguageModes: [.v6]
)
