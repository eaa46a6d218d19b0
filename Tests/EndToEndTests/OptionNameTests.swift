import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests of the long names of options whose short names other tests use, and of options that no other suite tests.
    @Suite("Names of options and commands", .serialized, .timeLimit(.minutes(2)))
    struct OptionNameTests {
        static let content = Content(seed: 790, size: 6 * mebibyte + 1)
        static var file: FaultReply { FaultReply(content, etag: "\"v1\"") }

        @Test("Long names of options for the request and the file")
        func request() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                let result = try await sandbox.perform(
                    "get", "--directory", "new/folder", "--output", "mine", "--connections", "1", "--max-concurrent",
                    "1",
                    "--header", "X-Kind: test", "--user-agent", "Somebody/1", "--referer", "http://from.example/",
                    "--user", "ann:pw", "--method", "POST", server.url())
                try expectDownloaded(Self.content, as: "new/folder/mine", by: result, in: sandbox)
                let request = try #require(server.log.entries.first?.request)
                #expect(server.log.entries.count == 1)
                #expect(request.method == "POST")
                #expect(request["X-Kind"] == "test")
                #expect(request["User-Agent"] == "Somebody/1")
                #expect(request["Referer"] == "http://from.example/")
                #expect(request["Authorization"] == "Basic \(Data("ann:pw".utf8).base64EncodedString())")
            }
        }

        @Test("A single URL without a scheme, with options, is downloaded, and the used scheme is reported")
        func shortest() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                let address = server.url("/a").replacing("http://", with: "")
                let result = try await sandbox.run(address, "-x1", "-dsub", "-omine", "-vHX-Kind:test")
                try expectDownloaded(Self.content, as: "sub/mine", by: result, in: sandbox)
                #expect(result.stderr.contains("no scheme given; using http://\(address)"), "\(result.stderr)")
                #expect(server.log.entries.map(\.request.target) == ["/a"])
                #expect(server.log.entries.first?.request["X-Kind"] == "test")
                let behind = try await sandbox.run("-q", "-oother", server.url("/b"))
                #expect(behind.ending == .exited(0) && behind.stdout.isEmpty && behind.stderr.isEmpty)
                #expect(try sha256(of: sandbox.file("other")) == Self.content.sha256)
            }
        }

        @Test(
            "One redirect more than --max-redirects gives exit status 7, and is not followed", arguments: [0, 1, 2, 3])
        func redirects(most: Int) async throws {
            try await withDlm({ request in
                switch request.target {
                case "/a": .redirect(to: "/b")
                case "/b": .redirect(to: "/c")
                default: Self.file
                }
            }) { sandbox, server in
                let result = try await sandbox.perform("get", "--max-redirects", "\(most)", "-x", "1", server.url("/a"))
                if most >= 2 {
                    try expectDownloaded(Self.content, as: "c", by: result, in: sandbox)
                } else {
                    expectFailure(7, of: result, most)
                    #expect(server.log.entries.map(\.request.target) == ["/a", "/b"].prefix(most + 1).map { $0 })
                }
            }
        }

        @Test("ls means list, rm means remove, and help COMMAND means COMMAND --help")
        func otherNames() async throws {
            try await withDlm(serving: Self.file) { sandbox, server in
                try await sandbox.done("get", "-b", "--paused", server.url("/a"))
                let listed = try await sandbox.perform("list", "--json")
                #expect(!listed.stdout.isEmpty)
                #expect(try await sandbox.run("ls", "--json").stdout == listed.stdout)
                #expect(try await sandbox.run("rm", "1").ending == .exited(0))
                #expect(try await sandbox.perform("list", "--all", "--json").stdout.isEmpty)
                for command in ["get", "resume"] {
                    let help = try await sandbox.done("help", command)
                    #expect(try await sandbox.run(command, "--help").stdout == help.stdout)
                }
            }
        }
    }
}
