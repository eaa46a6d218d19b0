import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Proves the second table of docs/protocols.md. ``RealProxyTests`` has more tests of http and https.
    @Suite(
        "Every protocol through every kind of proxy", .long, .serialized, .timeLimit(.minutes(3)),
        .enabled(
            if: RealServers.canRun && RealProxy.canRun,
            "needs root, nginx, vsftpd, OpenSSH, tinyproxy and microsocks"))
    struct ProxyTests {
        static let content = Content(seed: 1901, size: 9 * mebibyte + 9)
        static let login = ("ann", "pw")

        /// Runs `dlm get` for `file.bin` in a new home.
        private func get(
            _ spoken: Spoken, _ servers: RealServers, _ proxy: RealProxy, as user: (String, String)? = nil,
            _ body: (DlmSandbox, ChildProcess.Result) async throws -> Void
        ) async throws {
            try await servers.withDlm { sandbox in
                let words = try servers.words(spoken, in: sandbox, proxy: proxy)
                let get = ["get", "--retries", "0", "--proxy", proxy.url(as: user)]
                try await body(sandbox, try await sandbox.perform(get + words + [servers.url(spoken, "file.bin")]))
            }
        }

        @Test(
            "All traffic goes through the proxy, also the data connections of FTP; without the proxy nothing arrives",
            arguments: RealProxy.Kind.allCases)
        func download(kind: RealProxy.Kind) async throws {
            try await withServers { servers in
                try servers.add(Self.content, as: "file.bin")
                try await withProxy(kind) { proxy in
                    for spoken in Spoken.remote {
                        let before = proxy.connections
                        try await get(spoken, servers, proxy) { sandbox, result in
                            try expectDownloaded(
                                Self.content, as: "file.bin", by: result, in: sandbox, "\(kind) \(spoken)")
                        }
                        let isThere = await proxy.waitForConnections(before + (spoken.isFTP ? 2 : 1))
                        #expect(isThere, "\(kind) \(spoken): \(proxy.connections - before)")
                    }
                    await proxy.end()
                    for spoken in Spoken.remote {
                        try await get(spoken, servers, proxy) { sandbox, result in
                            expectFailure(4, of: result, "\(kind) \(spoken)")
                            #expect(sandbox.names == [], "\(kind) \(spoken)")
                        }
                    }
                }
            }
            for spoken in Spoken.remote { ProtocolTable.note("\(kind)://", spoken.rawValue, "download") }
        }

        @Test(
            "A download through a proxy is resumed after kill -9",
            arguments: ProtocolTable.isFull ? RealProxy.Kind.allCases : [.https, .socks5])
        func resume(kind: RealProxy.Kind) async throws {
            // SCP cannot resume.
            let protocols = Spoken.remote.filter { $0 != .scp }
            try await withServers { servers in
                try await withProxy(kind) { proxy in
                    let before = proxy.connections
                    try await servers.resume(
                        protocols, Self.content, proxy: proxy, options: ["--proxy", proxy.url()])
                    // Each protocol needs two connections; FTP needs two more for its data.
                    let count = protocols.map { $0.isFTP ? 4 : 2 }.reduce(0, +)
                    #expect(await proxy.waitForConnections(before + count), "\(kind) \(proxy.connections)")
                }
            }
            for spoken in protocols { ProtocolTable.note("\(kind)://", spoken.rawValue, "resume") }
        }

        @Test(
            "A proxy accepts the right name and password; a wrong password, or none, gives exit status 6",
            arguments: RealProxy.Kind.withLogin)
        func login(kind: RealProxy.Kind) async throws {
            try await withServers { servers in
                try servers.add(Self.content, as: "file.bin")
                try await withProxy(kind, user: Self.login) { proxy in
                    for spoken in Spoken.remote {
                        try await get(spoken, servers, proxy, as: Self.login) { sandbox, result in
                            try expectDownloaded(
                                Self.content, as: "file.bin", by: result, in: sandbox, "\(kind) \(spoken)")
                        }
                        for wrong in [("ann", "wrong"), nil] {
                            try await get(spoken, servers, proxy, as: wrong) { sandbox, result in
                                expectFailure(6, of: result, "\(kind) \(spoken)")
                                #expect(sandbox.names == [], "\(kind) \(spoken)")
                            }
                        }
                    }
                }
            }
            ProtocolTable.note("\(kind)://", "name and password")
        }

        @Test("A proxy with an untrusted certificate gets no request")
        func identity() async throws {
            try await withServers { servers in
                try servers.add(Self.content, as: "file.bin")
                try await withProxy(.https) { proxy in
                    for spoken in Spoken.remote {
                        try await servers.withDlm { sandbox in
                            let words = try servers.words(spoken, in: sandbox) + ["--proxy", proxy.url()]
                            let result = try await sandbox.perform(
                                ["get", "--retries", "0"] + words + [servers.url(spoken, "file.bin")])
                            expectFailure(5, of: result, spoken)
                            #expect(result.stderr.contains("certificate"), "\(spoken) \(result.stderr)")
                            #expect(sandbox.names == [], "\(spoken)")
                        }
                    }
                    #expect(proxy.connections == 0)
                }
            }
        }
    }
}
