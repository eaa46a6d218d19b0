// swift-tools-version: 6.1
import PackageDescription

#if canImport(Glibc)
    import Glibc
#endif

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
]

/// Settings for C under AddressSanitizer: undefined behaviour in our own C code ends the program, too. The library of
/// AddressSanitizer contains what this check needs.
let cSettings: [CSetting] =
    Context.environment["DLM_SANITIZE"] == "address"
    ? [.unsafeFlags(["-fsanitize=undefined", "-fno-sanitize-recover=undefined"])] : []

/// Flags that pack the relocations (112,000 addresses that each start adjusts), so that each start reads 2.6 MiB less.
/// A program with packed relocations needs glibc 2.36. For the archive that runs on older systems, the program is linked
/// with the libraries of one (see scripts/older-system).
let systemFlags: [String] = {
    if let folder = Context.environment["DLM_OLDER_SYSTEM"] {
        return [
            "-lpthread", "-ldl", "-lrt", "-Xclang-linker", "--sysroot=" + folder, folder + "/older.o",
        ]
    }
    #if canImport(Glibc)
        let length = confstr(Int32(_CS_GNU_LIBC_VERSION), nil, 0)
        let name = String(unsafeUninitializedCapacity: length) {
            $0.withMemoryRebound(to: CChar.self) { _ = confstr(Int32(_CS_GNU_LIBC_VERSION), $0.baseAddress, length) }
            return max(0, length - 1)
        }
        let version = name.split { $0 == " " || $0 == "." }.compactMap { Int($0) }
        if version.count > 1, (version[0], version[1]) >= (2, 36) {
            return ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
        }
    #endif
    return []
}()

/// Flags for the released program (see the Makefile). An object file with the part of ICU's data that dlm needs
/// replaces the whole data. Tables for unwinding are left out, because nothing in the program uses them.
let reducedData: [String] =
    Context.environment["DLM_ICU_DATA"].map {
        [$0, "-Xlinker", "-T", "-Xlinker", Context.packageDirectory + "/scripts/link/reduced.ld"]
    } ?? []

/// Flags that link the static C++ library into the program. Swift's runtime needs little of that library, and a start
/// need not bind the thousands of symbols of the shared library. scripts/link is searched first, and its file names the
/// static library. That needs lld, which comes with Swift. The program exports no symbols, because nothing looks them
/// up by name. So 2 MiB less of the program are in memory.
let linkerSettings: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-L", Context.packageDirectory + "/scripts/link", "-Xlinker",
            "--version-script=" + Context.packageDirectory + "/scripts/link/exports.map",
        ] + systemFlags + reducedData, .when(configuration: .release))
]

/// A dependency that only background sessions have. Without their trait, swift-nio and what it needs are not fetched.
let background = TargetDependencyCondition.when(traits: ["BackgroundSessions"])

func nio(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-nio", condition: background) }

let package = Package(
    name: "dlm",
    products: [
        // The program is not listed: SwiftPM makes a product of it when this package is built itself. A package that
        // depends on this one fetches only the packages that a listed product needs, so ArgumentParser and Yams are not
        // among them.
        .library(name: "DownloadKit", targets: ["DownloadKit"]),
        .library(name: "DownloadKitTesting", targets: ["DownloadKitTesting"]),
        // Libraries for tests. The dynamic linker loads them into dlm.
        .library(name: "PowerLoss", type: .dynamic, targets: ["CPowerLoss"]),
        .library(name: "SystemShim", type: .dynamic, targets: ["CSystemShim"]),
        .library(name: "Torture", type: .dynamic, targets: ["CTorture"]),
    ],
    traits: [
        .trait(
            name: "BackgroundSessions",
            description: "Sessions that other processes find, and that outlive their process. Needs swift-nio."),
        .trait(name: "Logging", description: "EventLogger, which logs events with swift-log"),
        .default(enabledTraits: ["BackgroundSessions"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        // Only fetched with the trait Logging.
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.5.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
    ],
    targets: [
        .target(name: "CCurl", cSettings: cSettings),
        // The module is CSystem. swift-system, which comes with swift-nio, already has a target of that name.
        .target(
            name: "CDownloadSystem", path: "Sources/CSystem", cSettings: cSettings),
        .target(
            name: "DownloadCore",
            dependencies: ["CDownloadSystem", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: swiftSettings),
        .target(
            name: "DownloadSystem",
            dependencies: [
                "CDownloadSystem", "DownloadCore", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "DownloadEngine",
            dependencies: [
                "CDownloadSystem", "DownloadCore", "DownloadSystem",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "CurlTransport",
            dependencies: [
                "CCurl", "CDownloadSystem", "DownloadCore", "DownloadSystem",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "DownloadStorage",
            dependencies: [
                "CDownloadSystem", "DownloadCore", "DownloadSystem", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings),
        .target(name: "CPostgres", cSettings: cSettings),
        .target(
            name: "DownloadStoragePostgres", dependencies: ["CPostgres", "DownloadCore", "DownloadSystem"],
            swiftSettings: swiftSettings),
        .target(
            name: "DownloadControl",
            dependencies: [
                "CDownloadSystem", "DownloadCore", "DownloadSystem",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "DownloadRPC",
            dependencies: [
                "CDownloadSystem", "DownloadCore", "DownloadSystem", "DownloadControl",
                nio("NIOCore"), nio("NIOHTTP1"), nio("NIOWebSocket"),
            ],
            resources: [
                .embedInCode("Page/index.html"), .embedInCode("Page/page.css"), .embedInCode("Page/page.js"),
                .embedInCode("Page/api.js"), .embedInCode("Page/list.js"), .embedInCode("Page/details.js"),
                .embedInCode("Page/format.js"), .embedInCode("Page/add.js"), .embedInCode("Page/menu.js"),
                .embedInCode("Page/icon.svg"), .embedInCode("Page/manifest.json"),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "DownloadKit",
            dependencies: [
                "CDownloadSystem", "DownloadCore", "DownloadSystem", "DownloadEngine", "CurlTransport",
                "DownloadStorage",
                .byName(name: "DownloadControl", condition: background),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "DownloadKitTesting",
            dependencies: ["DownloadCore", "DownloadSystem", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "dlm",
            dependencies: [
                // DownloadKit exports the next three. They are named here, too, because otherwise a change of them would
                // not compile all files of this target again.
                "DownloadKit", "DownloadCore", "DownloadSystem", "DownloadEngine", "DownloadRPC",
                "DownloadStoragePostgres",
                "CDownloadSystem",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: swiftSettings, linkerSettings: linkerSettings),

        .target(
            name: "CTestSupport", path: "Tests/CTestSupport",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto"), .linkedLibrary("nghttp2")]),
        .target(name: "CPowerLoss", path: "Tests/CPowerLoss"),
        .target(name: "CSystemShim", path: "Tests/CSystemShim"),
        .target(name: "CTorture", path: "Tests/CTorture"),
        .target(
            name: "DownloadTestSupport",
            dependencies: [
                "CDownloadSystem", "CTestSupport", "DownloadCore", "DownloadSystem", "DownloadStorage",
                "DownloadKitTesting", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/DownloadTestSupport", swiftSettings: swiftSettings),
        // The programs of Examples are packages of their own. They are also targets here, so that tests can run them.
        .executableTarget(
            name: "ExampleFetch", dependencies: ["DownloadKit"], path: "Examples/fetch/Sources",
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "ExampleHub", dependencies: ["DownloadKit"], path: "Examples/hub/Sources",
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "ExampleMirror", dependencies: ["DownloadKit"], path: "Examples/mirror/Sources",
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "ExamplePortable", dependencies: ["DownloadKit"], path: "Examples/portable/Sources",
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "ExampleBackground", dependencies: ["DownloadKit"], path: "Examples/background/Sources",
            swiftSettings: swiftSettings),
        .testTarget(name: "ArchitectureTests", swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadKitTests",
            dependencies: [
                "DownloadKit", "DownloadKitTesting", "DownloadCore", "DownloadSystem", "DownloadTestSupport",
                "ExampleFetch",
                "ExampleHub", "ExampleMirror", "ExamplePortable", "ExampleBackground",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadCoreTests",
            dependencies: [
                "CDownloadSystem", "DownloadCore", "DownloadSystem", "DownloadTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadSystemTests",
            dependencies: ["CDownloadSystem", "DownloadCore", "DownloadSystem", "DownloadTestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadEngineTests",
            dependencies: [
                "CDownloadSystem", "DownloadCore", "DownloadSystem", "DownloadEngine", "DownloadStorage",
                "DownloadTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "CurlTransportTests",
            dependencies: [
                "CurlTransport", "CTestSupport", "DownloadCore", "DownloadSystem", "DownloadEngine", "DownloadStorage",
                "DownloadTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadStorageTests",
            dependencies: [
                "DownloadStorage", "DownloadCore", "DownloadSystem", "DownloadTestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadStoragePostgresTests",
            dependencies: ["DownloadStoragePostgres", "DownloadCore", "DownloadSystem", "DownloadTestSupport"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadControlTests",
            dependencies: [
                "CurlTransport", "DownloadControl", "DownloadCore", "DownloadSystem", "DownloadTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DownloadRPCTests",
            dependencies: [
                "CurlTransport", "DownloadControl", "DownloadCore", "DownloadSystem", "DownloadEngine", "DownloadRPC",
                "DownloadStorage", "DownloadTestSupport",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "DlmTests",
            dependencies: [
                "dlm", "DownloadCore", "DownloadKit", "DownloadSystem", "DownloadRPC", "DownloadStoragePostgres",
                "DownloadTestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "dlm", "DownloadCore", "DownloadSystem", "DownloadEngine", "DownloadStoragePostgres",
                "DownloadTestSupport",
            ],
            swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
