import CurlTransport
import DownloadControl
import DownloadCore
import DownloadSystem
import DownloadTestSupport
import Foundation

/// A server on a socket of its own, with a client and raw connections to it.
struct ControlBench {
    let folder: TemporaryFolder
    let location: SessionLocation
    let service: ControlledService
    let server: ControlServer
    let transport: CurlTransport
    let client: ControlClient

    init(
        _ service: ControlledService = ControlledService(), stateFolder: String = "", limits: ControlLimits = .init(),
        clientLimits: ControlClient.Limits = .patient, listener: (SessionLocation) throws -> Int32? = { _ in nil }
    ) async throws {
        self.service = service
        folder = try TemporaryFolder()
        let state = folder("state" + stateFolder)
        try FileManager.default.createDirectory(
            atPath: state + "/sessions", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        location = SessionLocation(stateFolder: state, identifier: "background")
        var limits = limits
        limits.linger = .milliseconds(100)
        server = try await ControlServer.start(
            service, at: location, listener: try listener(location), limits: limits)
        transport = try CurlTransport(environment: [:])
        client = ControlClient(
            transport: transport, location: location, limits: clientLimits, isAlive: { false },
            readLog: { try await service.log(since: $0) })
    }

    func raw() throws -> RawClient { try RawClient(location.socketPath) }

    /// Sends one request, and returns the status and the body of the answer.
    func ask(
        _ method: String, _ path: String, _ body: String = "", fields: String = ""
    ) async throws -> (status: Int, json: [String: Any]) {
        let client = try raw()
        defer { client.close() }
        client.send(
            "\(method) \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(fields)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let answer = try await client.answer()
        return (answer.status, try answer.json)
    }

    func end() async {
        await server.stop()
        transport.shutdown()
    }
}

extension ControlClient.Limits {
    /// Long time limits, for tests that do not test these limits. Hundreds of tests share the cores, so answers may be
    /// slow.
    static var patient: Self {
        var limits = Self()
        limits.hello = .seconds(50)
        return limits
    }
}
