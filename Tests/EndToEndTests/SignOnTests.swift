import DownloadTestSupport
import Foundation
import Testing

/// The method that authenticates each connection: NTLM with a password, or Negotiate with a Kerberos ticket.
enum SignOn: String, CaseIterable, Sendable, CustomStringConvertible {
    case ntlm, negotiate

    var description: String { rawValue }
    /// The name of the method in a server's field WWW-Authenticate.
    var scheme: String { self == .ntlm ? "NTLM" : "Negotiate" }
}

extension EndToEnd {
    @Suite(
        "NTLM and Negotiate, from Apache", .serialized, .timeLimit(.minutes(3)),
        .enabled(
            if: Apache.canRun && KerberosCentre.canRun,
            "needs apache2-bin, libapache2-mod-auth-gssapi, gss-ntlmssp, krb5-admin-server and krb5-user"))
    struct SignOnTests {
        static let content = Content(seed: 2001, size: 9 * mebibyte + 1)

        /// A server, and a home whose user has the credentials.
        struct Site {
            let way: SignOn
            let sandbox: DlmSandbox
            let server: Apache
            /// The environment of a user with a ticket, and of a user without a ticket.
            let ticket, none: [String: String]

            var login: [String] { way == .ntlm ? PrivateServer.login : [] }

            func launch(_ words: [String], allowed: Bool = true) throws -> ProcessLaunch {
                var launch = try sandbox.launch(words)
                launch.environment.merge(allowed ? ticket : none) { own, _ in own }
                return launch
            }

            func run(_ words: [String], allowed: Bool = true) async throws -> ChildProcess.Result {
                try await ChildProcess(try launch(words, allowed: allowed)).result()
            }
        }

        /// Runs a test and returns the server's log.
        private func withSite(_ way: SignOn, _ body: (Site) async throws -> Void) async throws -> [Apache.LogLine] {
            let centre = way == .negotiate ? try await KerberosCentre() : nil
            return try await finally({ await centre?.stop() }) {
                let ticket = try await centre?.logIn() ?? [:]
                let server = try await Apache(centre.map { .negotiate($0) } ?? .ntlm)
                var log: [Apache.LogLine] = []
                try await finally({ log = await server.stop() }) {
                    try server.add(Self.content, as: "file.bin")
                    try await withDlm { sandbox in
                        let none = centre?.environment ?? [:]
                        try await body(Site(way: way, sandbox: sandbox, server: server, ticket: ticket, none: none))
                    }
                }
                return log
            }
        }

        @Test(
            "Authentication works over one connection and over several, and the password is never sent",
            arguments: SignOn.allCases, [["-x", "1"], ["-x", "4"], ["-x", "4", "--anyauth"]])
        func download(way: SignOn, options: [String]) async throws {
            let log = try await withSite(way) { site in
                let words = options.contains("--anyauth") ? options : options + ["--\(way)"]
                let result = try await site.run(
                    ["get", "-v", "-v"] + words + site.login + [site.server.url("file.bin")])
                try expectFile(Self.content, "file.bin", in: site.sandbox)
                #expect(result.ending == .exited(0), "\(result.stderr) \(site.server.errors)")
                SecretSearch(sandbox: site.sandbox).expectSilent(result)
                try SecretSearch(sandbox: site.sandbox).expectNoTrace("finished")
            }
            let sent = log.filter { $0.status == 206 }
            #expect(!sent.isEmpty && sent.allSatisfy { $0.user.contains(PrivateServer.user) }, "\(log)")
            #expect(options[1] == "1" || Set(sent.map(\.range)).count > 1, "\(log)")
            #expect(log.allSatisfy { [way.scheme, "Negotiate", "-"].contains($0.scheme) }, "\(log)")
            ProtocolTable.note("http", "authentication", way.scheme)
        }

        @Test(
            "A killed download is resumed, and at most 64 KiB of its recorded bytes are fetched again",
            arguments: SignOn.allCases)
        func resumed(way: SignOn) async throws {
            var received: Int64 = 0
            let log = try await withSite(way) { site in
                let words = ["-x", "1", "--\(way)"] + site.login + [site.server.url("file.bin")]
                let slow = try site.launch(["get", "--limit-rate", "3M"] + words)
                received = try await site.sandbox.kill(slow, after: 3 * mebibyte)
                // Without the password or the ticket, the resume is refused.
                expectFailure(way == .ntlm ? 2 : 6, of: try await site.run(["resume", "1"], allowed: false))
                let result = try await site.run(["resume", "1"] + site.login)
                try expectDownloaded(Self.content, as: "file.bin", by: result, in: site.sandbox)
            }
            let last = try #require(log.last { $0.status == 206 })
            #expect(last.bytes <= Self.content.size - received + 65536, "\(log)")
        }

        @Test("A wrong password or a missing ticket gives exit status 6", arguments: SignOn.allCases)
        func refused(way: SignOn) async throws {
            let log = try await withSite(way) { site in
                for option in ["--\(way)", "--anyauth", "--basic"] {
                    let login = way == .ntlm || option == "--basic" ? ["-u", "\(PrivateServer.user):wrong"] : []
                    let words = ["get", option] + login + [site.server.url("file.bin")]
                    expectFailure(6, of: try await site.run(words, allowed: false), option)
                    #expect(site.sandbox.names == [], "\(option)")
                }
            }
            #expect(log.allSatisfy { $0.status == 401 }, "\(log)")
        }

        @Test("No credentials are sent after a redirect to another origin", arguments: SignOn.allCases)
        func redirect(way: SignOn) async throws {
            let elsewhere = try FaultServer { request in
                request["Authorization"] == nil && request.number == 1
                    ? FaultReply(status: 401).with { $0.fields = [("WWW-Authenticate", way.scheme)] }
                    : FaultReply(Self.content, etag: "\"v1\"")
            }
            let log = try await withSite(way) { site in
                let words = ["get", "--\(way)"] + site.login + [site.server.url("away/\(elsewhere.port)")]
                expectFailure(6, of: try await site.run(words))
            }
            #expect(log.contains { $0.status == 302 && $0.user.contains(PrivateServer.user) }, "\(log)")
            #expect(elsewhere.log.entries.count == 1)
            for entry in elsewhere.log.entries { #expect(entry.request["Authorization"] == nil) }
        }
    }
}
