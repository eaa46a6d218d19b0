import DownloadKit
import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests of DownloadKit as another program uses it, with the clock of the system.
    @Suite("The library", .serialized, .timeLimit(.minutes(2)))
    struct LibraryTests {
        private func request(_ server: FaultServer, _ sandbox: DlmSandbox) throws -> DownloadRequest {
            DownloadRequest(
                url: try SourceURL.parse(server.url()).get().url, destination: Destination(folder: sandbox.files))
        }

        @Test("A document is returned in memory, or refused if it is larger than the limit")
        func document() async throws {
            let content = Content(seed: 2001, size: 1000)
            try await withDlm(serving: FaultReply(content)) { sandbox, server in
                let request = try request(server, sandbox)
                let bytes = try await DownloadSession.document(request, largest: 1000)
                #expect(bytes == content.bytes(0..<1000))
                await #expect(throws: DownloadError.self) {
                    try await DownloadSession.document(request, largest: 999)
                }
                #expect(sandbox.names == [])
            }
        }

        @Test("A probe returns each request and its answer")
        func probe() async throws {
            try await withDlm({ request in
                request.target == "/file.bin" ? .redirect(to: "/there") : FaultReply(Content("x"), etag: "\"v1\"")
            }) { sandbox, server in
                let probed = try await DownloadSession.probe(try request(server, sandbox))
                #expect(probed.steps.map(\.head?.status) == [302, 206])
            }
        }

        @Test("The health of a store and its live sessions can be read without a DownloadSession")
        func store() async throws {
            try await withDlm(serving: FaultReply(Content("x"))) { sandbox, server in
                #expect(DownloadSession.storeHealth(stateFolder: sandbox.stateFolder).bytes == nil)
                let got = try await sandbox.perform("get", server.url())
                #expect(got.ending == .exited(0), "\(got.stderr)")
                let health = DownloadSession.storeHealth(stateFolder: sandbox.stateFolder)
                #expect(health.downloads == 1 && health.isChecked && health.error == nil)
                let sessions = DownloadSession.sessions(stateFolder: sandbox.stateFolder)
                defer { sessions.close() }
                #expect(sessions.liveSessions() == [] && !sessions.isAlive("background"))
            }
        }
    }
}
