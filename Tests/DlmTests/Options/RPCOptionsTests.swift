import ArgumentParser
import DownloadRPC
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Options of the HTTP server", .inTurn, .serialized)
struct RPCOptionsTests {
    private func configuration(
        _ words: [String], home: String? = "/home/u", directory: String? = nil, workingFolder: String? = "/here",
        downloads: String? = nil
    ) throws -> Configuration? {
        var environment: [String: String] = [:]
        environment["HOME"] = home
        environment["XDG_DOWNLOAD_DIR"] = downloads
        return try RPCOptions.parse(words).configuration(
            environment, stateFolder: "/state", directory: directory, workingFolder: workingFolder
        ).map {
            Configuration(
                host: $0.host, port: $0.port, folders: $0.folders, hosts: $0.hosts, origins: $0.origins,
                permitsPrivateHosts: $0.permitsPrivateHosts, protected: $0.protectedFolders)
        }
    }

    struct Configuration: Equatable {
        var host = "127.0.0.1"
        var port = 6800
        var folders: [String]
        var hosts: [String] = []
        var origins: [String] = []
        var permitsPrivateHosts = true
        var protected = ["/home/u/.config/dlm"]
    }

    @Test(
        "The HTTP server is off without --rpc, and after --no-rpc",
        arguments: [[], ["--no-rpc"], ["--rpc-listen", "6801"], ["--rpc", "--no-rpc"]])
    func off(words: [String]) throws { #expect(try configuration(words) == nil) }

    @Test("By default the server is on loopback, serves the folder of downloads, and allows no other host or origin")
    func defaults() throws {
        #expect(try configuration(["--rpc"]) == Configuration(folders: ["/home/u/Downloads"]))
        #expect(try configuration(["--rpc"], directory: "/data") == Configuration(folders: ["/data"]))
        #expect(try configuration(["--rpc"], directory: "/data", downloads: "/d") == Configuration(folders: ["/d"]))
        #expect(throws: (any Error).self) { try configuration(["--rpc"], home: nil) }
        #expect(throws: (any Error).self) { try configuration(["--rpc"], home: "relative") }
    }

    @Test("Every option is in the configuration of the server")
    func all() throws {
        let words = [
            "--rpc", "--rpc-listen", "[::]:7000", "--rpc-folders", "/a", "--rpc-folders", "b", "--rpc-hosts",
            "nas.example.org",
            "--rpc-origins", "https://aria.example", "--rpc-origins", "null", "--no-rpc-private-hosts",
        ]
        #expect(
            try configuration(words)
                == Configuration(
                    host: "::", port: 7000, folders: ["/a", "/here/b"], hosts: ["nas.example.org"],
                    origins: ["https://aria.example", "null"], permitsPrivateHosts: false))
        #expect(throws: (any Error).self) { try configuration(words, workingFolder: nil) }
    }

    @Test("An option of the command overrides the setting; the lists of both are not merged")
    func overriding() throws {
        let settings = try RPCOptions.parse([
            "--rpc", "--rpc-listen", "1", "--rpc-folders", "/a", "--rpc-hosts", "h", "--no-rpc-private-hosts",
        ])
        let own = try RPCOptions.parse(["--no-rpc", "--rpc-listen", "2", "--rpc-folders", "/b", "--rpc-private-hosts"])
        #expect(
            try own.overriding(settings)
                == RPCOptions.parse([
                    "--no-rpc", "--rpc-listen", "2", "--rpc-folders", "/b", "--rpc-hosts", "h", "--rpc-private-hosts",
                ]))
        #expect(own.overriding(nil) == own)
        #expect(try RPCOptions.parse([]).overriding(settings) == settings)
    }

    @Test(
        "Invalid addresses, folders and origins are refused",
        arguments: [
            ["--rpc-listen", "localhost"], ["--rpc-listen", "1.2.3.4:99999"], ["--rpc-listen", ""],
            ["--rpc-folders", ""],
            ["--rpc-folders", "a\0b"], ["--rpc-origins", "example.org"], ["--rpc-origins", "https://example.org/"],
            ["--rpc-origins", "https://example.org/path"], ["--rpc-origins", "https://"], ["--rpc-origins", "*"],
        ])
    func refused(words: [String]) { #expect(throws: (any Error).self) { try RPCOptions.parse(words) } }
}
