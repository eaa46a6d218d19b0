// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "logged",
    dependencies: [
        .package(name: "dlm", path: "../..", traits: ["Logging"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "logged",
            dependencies: [
                .product(name: "DownloadKit", package: "dlm"), .product(name: "Logging", package: "swift-log"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
