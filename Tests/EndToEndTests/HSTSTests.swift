import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("HSTS", .serialized, .timeLimit(.minutes(2)))
    struct HSTSTests {
        static let content = Content(seed: 1801, size: 300_000)
        static let small = Content(seed: 1802, size: 3000)

        @Test(
            "After an HSTS answer, requests and redirects to the host use only https; --no-hsts disables this"
        )
        func upgraded() async throws {
            try await withSecureDlm(
                { request in
                    let sums = Content("\(Self.small.sha256)  small\n")
                    let content = ["/small": Self.small, "/sums": sums][request.target] ?? Self.content
                    return FaultReply(content, etag: "\"v1\"").with {
                        $0.fields += [("Strict-Transport-Security", "max-age=3600; includeSubDomains")]
                    }
                }
            ) { site in
                let plain = "http://localhost:\(site.server.port)"
                func get(_ name: String, _ words: String...) async throws -> ChildProcess.Result {
                    try await site.run(["get", "--retries", "0", "-o", name] + words)
                }
                let before = try await get("a", plain + "/file")
                #expect(before.ending != .exited(0))
                // An answer over a connection that was not verified (-k) does not set HSTS.
                #expect(try await get("b", "-k", "https://localhost:\(site.server.port)/file").ending == .exited(0))
                #expect(try await get("a", plain + "/file").ending != .exited(0))
                #expect(try await get("c", "https://localhost:\(site.server.port)/small").ending == .exited(0))
                for (name, path, content) in [("d", "/file", Self.content), ("e", "/small", Self.small)] {
                    let result = try await get(name, plain + path)
                    try expectDownloaded(content, as: name, by: result, in: site.sandbox)
                }
                let sums = ["--checksum-file", plain + "/sums"]
                let verified = try await site.run(["get", "--retries", "0"] + sums + [plain + "/small"])
                try expectDownloaded(Self.small, as: "small", by: verified, in: site.sandbox)
                #expect(try await site.run("doctor", plain + "/small").ending == .exited(0))
                #expect(try await get("f", "--no-hsts", plain + "/file").ending != .exited(0))
                let kept = try site.sandbox.root.read("home/.cache/dlm/hsts")
                #expect(kept.contains(".localhost \""), "\(kept)")
                let mode =
                    try FileManager.default.attributesOfItem(
                        atPath: site.sandbox.root("home/.cache/dlm/hsts"))[.posixPermissions] as? Int
                #expect(mode == 0o600)
                let redirecting = try FaultServer { _ in .redirect(to: plain + "/small") }
                let moved = try await get("g", redirecting.url("/x"))
                try expectDownloaded(Self.small, as: "g", by: moved, in: site.sandbox)
            }
        }
    }
}
