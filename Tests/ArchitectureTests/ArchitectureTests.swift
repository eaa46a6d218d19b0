import Foundation
import Testing

@Suite(.serialized) struct ArchitectureTests {
    @Test("No file of the tree breaks a rule", arguments: Rule.all)
    func tree(_ rule: Rule) throws {
        let violations = try SourceTree.files().flatMap(rule.check)
        #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
    }

    @Test("The checked tree has all modules, and files of all kinds")
    func coverage() throws {
        let files = try SourceTree.files()
        let modules = Set(files.filter { $0.isSource && $0.isSwift }.map(\.module))
        #expect(modules == Set(Rule.walls.keys))
        for path in [
            "Sources/DownloadCore/HTTP/ContentRange.swift", "Sources/CCurl/include/CCurl.h",
            "Sources/CSystem/CSystem.c", "Tests/ArchitectureTests/ArchitectureTests.swift",
        ] {
            #expect(files.contains { $0.path == path && !$0.text.isEmpty }, "\(path)")
        }
    }

    @Test(
        "Most modules import only DownloadCore and DownloadSystem of ours; DownloadRPC also DownloadControl"
    )
    func star() {
        for (module, allowed) in Rule.walls where !["DownloadKit", "dlm"].contains(module) {
            // DownloadRPC's server on TCP is the server of the Unix socket, with additional access rules.
            let shared = ["DownloadCore", "DownloadSystem"] + (module == "DownloadRPC" ? ["DownloadControl"] : [])
            #expect(allowed.isDisjoint(with: Rule.walls.keys.filter { !shared.contains($0) }), "\(module)")
        }
        #expect(
            Rule.walls["dlm"]?.intersection(Rule.walls.keys) == [
                "DownloadKit", "DownloadRPC", "DownloadStoragePostgres",
            ])
        #expect(Rule.walls["DownloadCore"]?.isDisjoint(with: Rule.walls.keys) == true)
    }

    @Test("A package that depends on DownloadKit builds no other part of dlm, and without background sessions no NIO")
    func libraryGraph() throws {
        let manifest = try String(contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)
        let full = Self.parts(of: "DownloadKit", in: manifest)
        #expect(
            full.isSuperset(of: [
                "DownloadCore", "DownloadSystem", "DownloadControl", "CCurl", "CDownloadSystem", "NIOHTTP1",
            ]))
        #expect(
            full.isDisjoint(with: [
                "DownloadRPC", "NIOWebSocket", "DownloadStoragePostgres", "CPostgres", "ArgumentParser", "Yams",
            ]))
        let conditional = /\.byName\([^)]*condition: background\)/
        let light = Self.parts(of: "DownloadKit", in: manifest.replacing(conditional, with: ""))
        #expect(light.isSuperset(of: ["DownloadCore", "CurlTransport", "GRDB"]))
        #expect(light.allSatisfy { $0 != "DownloadControl" && !$0.hasPrefix("NIO") })
        // SwiftPM fetches what any product needs, and a package that one target needs without the condition.
        let products = try #require(manifest.firstMatch(of: /(?s) {4}products: \[.*?\n {4}\]/)).output
        #expect(products.contains("DownloadKit") && !products.contains(".executable("))
        #expect(manifest.matches(of: /package: "swift-nio"/).count == 1)
    }

    /// Returns a target of the manifest, and the targets and products that it needs.
    private static func parts(of target: Substring, in manifest: String) -> Set<Substring> {
        var dependencies: [Substring: ArraySlice<Substring>] = [:]
        for target in manifest.split(separator: /\.(?:executableT|testT|t)arget\(/).dropFirst() {
            let names = target.matches(of: /"([\w.]+)"/).map(\.1)
            if let name = names.first { dependencies[name] = names.dropFirst() }
        }
        var (built, added): (Set<Substring>, Set<Substring>) = ([], [target])
        while !added.isEmpty {
            built.formUnion(added)
            added = Set(added.flatMap { dependencies[$0] ?? [] }).subtracting(built)
        }
        return built
    }

    @Test("The program uses DownloadKit's public types, and of the others those that have a reason")
    func innerTypes() throws {
        let used = InnerTypes.used(in: try SourceTree.files())
        let listed = InnerTypes.exceptions.flatMap(\.types)
        #expect(used.subtracting(listed).isEmpty, "use a public type, or list it with its reason")
        #expect(Set(listed).subtracting(used).isEmpty, "not needed any more")
        #expect(listed.count == Set(listed).count && InnerTypes.exceptions.allSatisfy { !$0.reason.isEmpty })
        let own = SourceFile(
            path: "Sources/DownloadCore/A.swift", text: "package final class Inner {}\npublic enum Outer {}")
        let user = SourceFile(path: "Sources/dlm/B.swift", text: "let a: Inner? = Outer.Inner()")
        #expect(InnerTypes.used(in: [own, user]) == ["Inner"])
        let other = SourceFile(path: "Sources/dlm/B.swift", text: "let a = Outer.Inner() // Inner")
        #expect(InnerTypes.used(in: [own, other]).isEmpty)
    }

    @Test("Each function that may ask for the known book has a reason, and asks")
    func knownBook() throws {
        let listed = Rule.askersOfKnownBook.flatMap(\.functions)
        #expect(Set(try SourceTree.files().flatMap(Rule.askers).map(\.function)) == Set(listed))
        #expect(listed.count == Set(listed).count && Rule.askersOfKnownBook.allSatisfy { !$0.reason.isEmpty })
    }

    @Test("Of each of the largest types, somebody has said what holds it together")
    func largeTypes() throws {
        let largest = LargeTypes.largest(LargeTypes.reasons.count, of: try SourceTree.files())
        let unknown = largest.filter { LargeTypes.reasons[$0.key] == nil }
        #expect(unknown.isEmpty, "divide the type, or list it with its reason and take out one that is smaller")
    }
}
