import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite(
        "The network goes and comes back", .long, .serialized, .timeLimit(.minutes(5)),
        .enabled(if: LinkedNamespaces.arePossible, .init(rawValue: LinkedNamespaces.lack)))
    struct NetworkOutageTests {
        /// The duration of the outage, in seconds.
        static let outage = ProcessInfo.processInfo.environment["DLM_TEST_OUTAGE"].flatMap(Double.init) ?? 3
        static let size = 24 * mebibyte
        static let contents = (0..<5).map { Content(seed: 7100 + UInt64($0), size: size + Int64($0)) }

        /// A rate limit so low that no download is complete before the link goes down. ``lift(_:in:)`` removes the
        /// limit.
        static let slow = ["--limit-rate", "1M"]

        private func lift(_ ids: String, in sandbox: DlmSandbox) async throws {
            try await sandbox.performDone("limit", "none", ids)
        }

        /// Runs a test with a server at one end of a network link, and dlm at the other end.
        func withLink(_ body: (DlmSandbox, Nginx, LinkedNamespaces) async throws -> Void) async throws {
            let link = try LinkedNamespaces()
            defer { link.remove() }
            let nginx = try await Nginx(on: link)
            try await finally({ await nginx.stop() }) {
                for (index, content) in Self.contents.enumerated() { try nginx.add(content, as: "\(index).bin") }
                try await withDlm { try await body($0, nginx, link) }
            }
        }

        func launch(
            _ sandbox: DlmSandbox, _ link: LinkedNamespaces, _ words: [String]
        ) throws -> ProcessLaunch {
            var launch = link.inClient(try sandbox.launch(words))
            launch.timeLimit = .seconds(60 + Self.outage)
            return launch
        }

        func expectFiles(in sandbox: DlmSandbox) throws {
            for (index, content) in Self.contents.enumerated() { try expectFile(content, "\(index).bin", in: sandbox) }
        }

        /// Expects that at most the bytes of one second were received twice. The limit adds 5 % for the headers of
        /// packets and for acknowledgements.
        func expectLittleTwice(_ received: Int64) {
            let size = Self.contents.reduce(0) { $0 + $1.size }
            let second = Int64(Nginx.slowRate * Self.contents.count)
            print("received \(received) bytes of \(size): \(received - size) more")
            #expect(received < size + second + size / 20)
        }

        enum Fall: String, CaseIterable { case carrier, interface, carrierOfHTTP2 }

        @Test(
            "Five downloads wait while the link is down, none fails, and all continue within 2 s",
            arguments: Fall.allCases)
        func foreground(fall: Fall) async throws {
            try await withLink { sandbox, nginx, link in
                var words = ["get", "-x", "1", "--retries", "1", "--json"] + Self.slow
                var base = nginx.url("")
                if fall == .carrierOfHTTP2 {
                    // All downloads share one connection.
                    let port = try #require(URL(string: nginx.secureURL("/"))?.port)
                    base = "https://example.org:\(port)"
                    words += ["--http2", "--ca-certificate", nginx.certificates.authority, "--resolve"]
                    words += ["example.org:\(port):\(LinkedNamespaces.serverAddress)"]
                }
                let urls = Self.contents.indices.map { "\(base)/slow/\($0).bin" }
                let process = try ChildProcess(try launch(sandbox, link, words + urls))
                try await sandbox.waitForStates { $0.count == 5 }
                try await sandbox.waitToShow(5) { $0.received >= mebibyte }
                func set(up: Bool) throws {
                    try fall == .interface ? link.setClient(up: up) : link.setLink(up: up)
                }
                try set(up: false)
                try await sandbox.waitForStates { $0 == Array(repeating: "waiting", count: 5) }
                let shown = try await sandbox.perform("list", "--json")
                #expect(shown.stdout.components(separatedBy: "\"waitingFor\":\"network\"").count == 6)
                #expect(shown.stdout.contains("waiting for the network"))
                try await letPass(.seconds(Self.outage))
                try set(up: true)
                let back = ContinuousClock.now
                try await sandbox.waitForStates { $0 == Array(repeating: "running", count: 5) }
                #expect(ContinuousClock.now - back < promised(within: .seconds(2)))
                try await lift("1-5", in: sandbox)
                let result = try await process.result()
                #expect(result.ending == .exited(0), "\(result.stderr)")
                try expectFiles(in: sandbox)
                expectLittleTwice(try link.receivedBytes())
            }
        }

        @Test(
            "Five background downloads wait if the link is down when they begin or goes down later, and then continue")
        func background() async throws {
            try await withLink { sandbox, nginx, link in
                try link.setLink(up: false)
                let urls = Self.contents.indices.map { nginx.url("/slow/\($0).bin") }
                let added = try await ChildProcess(
                    try launch(sandbox, link, ["get", "-b", "-x", "1", "--retries", "1"] + Self.slow + urls)
                ).result()
                #expect(added.ending == .exited(0), "\(added.stderr)")
                try await sandbox.waitForStates { $0 == Array(repeating: "waiting", count: 5) }
                try link.setLink(up: true)
                try await sandbox.waitToShow(5) { $0.received >= mebibyte }
                try link.setLink(up: false)
                try await sandbox.waitForStates { $0 == Array(repeating: "waiting", count: 5) }
                try await letPass(.seconds(Self.outage))
                try link.setLink(up: true)
                try await lift("1-5", in: sandbox)
                try await sandbox.waitForStates { $0 == Array(repeating: "completed", count: 5) }
                try expectFiles(in: sandbox)
                expectLittleTwice(try link.receivedBytes())
            }
        }

        @Test(
            "If the local address is replaced by another, the download continues without a retry and without delay",
            arguments: [1, 4])
        func otherAddress(connections: Int) async throws {
            try await withLink { sandbox, nginx, link in
                let words = ["get", "-x", "\(connections)", "--retries", "1", "-v", nginx.url("/slow/0.bin")]
                let process = try ChildProcess(try launch(sandbox, link, words + Self.slow))
                try await sandbox.waitForStates { $0.count == 1 }
                try await sandbox.waitToShow(1) { $0.received >= mebibyte }
                try link.addClientAddress(LinkedNamespaces.otherClientAddress)
                try link.removeClientAddress(LinkedNamespaces.clientAddress)
                // If the second address was a secondary address of the first, the kernel has removed both
                // (ip-address(8)). So the second address is added again.
                try? link.addClientAddress(LinkedNamespaces.otherClientAddress)
                if connections == 1 { await process.expectSays("10.99.7.2 is gone") }
                try await lift("1", in: sandbox)
                let result = try await process.result()
                try expectDownloaded(Self.contents[0], as: "0.bin", by: result, in: sandbox)
                // With several connections, others take over the ranges of lost connections.
                #expect(connections > 1 || result.stderr.contains("10.99.7.2 is gone"), "\(result.stderr)")
                #expect(result.duration < promised(within: .seconds(25)))
            }
        }

        @Test("A download waits while no name server can be reached; --max-time and --retries 0 end the wait")
        func name() async throws {
            try await withLink { sandbox, _, link in
                let url = "http://nowhere.example/x"
                let timed = try await ChildProcess(
                    try launch(sandbox, link, ["get", "--max-time", "1", url])
                ).result()
                #expect(timed.ending == .exited(4), "\(timed.stderr)")
                #expect(timed.errorLines.count == 2, "\(timed.stderr)")
                #expect(timed.errorLines.first?.hasSuffix("waiting for the network") == true, "\(timed.stderr)")
                let once = try await ChildProcess(
                    try launch(sandbox, link, ["get", "--retries", "0", "-o", "y", url])
                ).result()
                expectFailure(4, of: once)
            }
        }

        @Test("--interface sends only from that interface or address")
        func interface() async throws {
            try await withLink { sandbox, nginx, link in
                let other = LinkedNamespaces.otherClientAddress
                func get(_ name: String, _ file: String) async throws -> ChildProcess.Result {
                    let words = ["get", "--retries", "0", "--connect-timeout", "5", "--interface", name, "-o", file]
                    return try await ChildProcess(try launch(sandbox, link, words + [nginx.url("/0.bin")])).result()
                }
                expectFailure(4, of: try await get("lo", "a"))
                expectFailure(4, of: try await get(other, "b"))
                try link.addClientAddress(other)
                for (name, file) in [(other, "c"), (LinkedNamespaces.interface, "d")] {
                    try expectDownloaded(Self.contents[0], as: file, by: try await get(name, file), in: sandbox, name)
                }
            }
        }

        @Test(
            "A name server that does not answer delays only downloads that need it, and does not delay the end of dlm")
        func silentNameServer() async throws {
            try await withLink { sandbox, nginx, link in
                // The resolver gives up after a minute.
                try sandbox.root.write("nameserver 10.99.7.99\noptions timeout:30\n", to: "resolv.conf")
                let words = ["get", "--retries", "0", "http://nowhere.example/x", nginx.url("/0.bin")]
                let process = try ChildProcess(
                    link.inClient(try sandbox.launch(words), resolver: sandbox.root("resolv.conf")))
                try await sandbox.waitForStates { $0 == ["running", "completed"] }
                let begin = ContinuousClock.now
                try await process.expectEnd(by: SIGINT)
                #expect(ContinuousClock.now - begin < promised(within: .seconds(1)))
                try expectFile(Self.contents[0], "0.bin", in: sandbox)
            }
        }
    }
}
