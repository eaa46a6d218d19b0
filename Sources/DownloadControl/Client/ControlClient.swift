import DownloadCore
import Foundation
import HTTPTypes
import Synchronization

/// A `DownloadService` for a session in another process. Each call is a request to the session's socket
/// (docs/api.md).
package final class ControlClient: DownloadService {
    /// The limits for the responses of a session.
    package struct Limits: Sendable {
        /// The time for requests that a session answers at once, such as the check of its availability.
        package var hello = Duration.seconds(3)
        /// The time for all other requests. It is longer than the time that a session allows for any request.
        package var verb = Duration.seconds(70)
        /// The most bytes of one response.
        package var answer = 64 << 20

        package init() {}
    }

    let identifier: String
    let location: SessionLocation
    let limits: Limits
    let time: any TimeSource
    let readLog: LogReading
    private let transport: any Transport
    private let isClosed = Mutex(false)

    /// Reads the log of the session's store after a cursor. The log ends with an error when the session is gone.
    package typealias LogReading =
        @Sendable (_ cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error>

    /// Creates a client without sending a request. The caller still owns the transport.
    package init(
        transport: any Transport, location: SessionLocation, limits: Limits = Limits(),
        time: any TimeSource = SystemTime(), readLog: @escaping LogReading
    ) {
        self.readLog = readLog
        self.time = time
        self.transport = transport
        self.location = location
        self.limits = limits
        identifier = location.identifier
    }

    /// Checks that the session is available and has the same version of the API.
    /// - Throws: ``DownloadError/sessionUnavailable(_:)``: `notRunning`, `notAnswering`, `incompatible` or
    ///   `shuttingDown`.
    package func checkAvailability() async throws {
        _ = try decode(WireHello.self, await ask(.get, "", within: limits.hello))
    }

    package func status() async throws -> SessionStatus {
        try decode(WireSession.self, await ask(.get, "session", within: limits.hello)).status
    }

    package func close() async { isClosed.withLock { $0 = true } }

    /// Does nothing, because no download runs in this process.
    package func pauseAll(_ reason: DownloadState.PauseReason) async {}

    // MARK: One exchange

    func ask(
        _ method: HTTPRequest.Method, _ path: String, _ document: (any Encodable & Sendable)? = nil,
        within patience: Duration? = nil
    ) async throws -> Data {
        try await ask(method, path, json: document.map { try WireCoder.encode($0) }, within: patience)
    }

    /// - Parameter json: the body, if there is one.
    func ask(
        _ method: HTTPRequest.Method, _ path: String, json: Data?, within patience: Duration? = nil
    ) async throws -> Data {
        let patience = patience ?? limits.verb
        let socket = try location.reach()
        var request = try request(method, path, socket)
        if let json {
            request.options.body = Array(json)
            request.options.fields[.contentType] = "application/json"
        }
        request.options.stallTimeout = Double(patience.components.seconds) + 5
        do {
            let answer = try await connecting {
                try await Exchange(request, over: transport, atMost: limits.answer, within: patience, time)
            }
            withExtendedLifetime(socket) {}
            try check(answer.head, answer.body)
            return answer.body
        } catch let failure as Exchange.Failure {
            throw try await explain(failure, within: patience)
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type, _ body: Data) throws -> Value {
        do { return try WireCoder.decode(type, body) } catch { throw bad("its answer cannot be understood") }
    }

    func bad(_ message: String) -> DownloadError {
        .sessionUnavailable(.badExchange(identifier, message: message))
    }

    private func request(_ method: HTTPRequest.Method, _ path: String, _ socket: SocketPath) throws -> TransferRequest {
        if isClosed.withLock(\.self) { throw DownloadError.sessionUnavailable(.shuttingDown) }
        guard case .success(let parsed) = SourceURL.parse("http://dlm/v\(WireCoder.version)/\(path)") else {
            throw bad("\(path) cannot be part of a URL")
        }
        var request = TransferRequest(url: parsed.url)
        request.options.method = method
        request.options.unixSocket = socket.text
        if let name = HTTPField.Name(Self.versionField) { request.options.fields[name] = "\(WireCoder.version)" }
        request.options.connectTimeout = Double(limits.hello.components.seconds)
        return request
    }

    private static let versionField = "Dlm-Api"

    /// Checks the version and the status of a response.
    /// - Throws: the error that the response reports.
    private func check(_ head: ResponseHead, _ body: Data) throws {
        let version = HTTPField.Name(Self.versionField).flatMap { head.fields[$0] }
        guard let version else { throw bad("its socket belongs to another program") }
        guard let number = Int(version) else { throw bad("its answer cannot be understood") }
        guard number == WireCoder.version else {
            throw DownloadError.sessionUnavailable(.incompatible(identifier, version: number))
        }
        if (200..<300).contains(head.status) { return }
        guard let document = try? WireCoder.decode(WireError.Document.self, body) else {
            throw bad("it answered with status \(head.status)")
        }
        throw document.error.error(from: identifier)
    }

    // MARK: Failures

    /// Performs an exchange. If libcurl could not connect because the socket closed at that moment, or because its
    /// queue was full, the exchange is repeated a few times: no request was sent, and a closed socket refuses the next
    /// connection.
    private func connecting<Answer>(_ exchange: () async throws -> Answer) async throws -> Answer {
        for _ in 1..<Self.mostTries {
            do { return try await exchange() } catch let error where Self.isPassing(error) { continue }
        }
        return try await exchange()
    }

    private static func isPassing(_ failure: any Error) -> Bool {
        switch failure {
        case Exchange.Failure.transfer(.networkFailed(.connect, let diagnosis)):
            [EAGAIN, ECONNRESET].contains(diagnosis.errno)
        default: false
        }
    }

    private func explain(_ failure: Exchange.Failure, within patience: Duration) async throws -> any Error {
        switch failure {
        case .timedOut:
            return DownloadError.sessionUnavailable(
                .notAnswering(identifier, message: "no answer within \(patience.components.seconds) s"))
        case .tooLarge: return bad("its answer is too long")
        case .cancelled: return CancellationError()
        case .transfer(.networkFailed(.connect, let diagnosis)): return unreachable(diagnosis)
        case .transfer(.networkFailed(.timedOut, _)), .transfer(.networkFailed(.stalled, _)):
            return DownloadError.sessionUnavailable(.notAnswering(identifier, message: ""))
        case .transfer(.networkFailed(.connectionLost, _)):
            // The session ended during the exchange, or closed the connection.
            return await isListening()
                ? bad("the connection was lost") : DownloadError.sessionUnavailable(.notRunning(identifier))
        case .transfer(.sessionUnavailable(let failure)): return DownloadError.sessionUnavailable(failure)
        case .transfer(let error): return bad(error.description)
        }
    }

    private func unreachable(_ diagnosis: TransportDiagnosis) -> DownloadError {
        switch diagnosis.errno {
        case ENOENT, ENOTDIR, ECONNREFUSED: .sessionUnavailable(.notRunning(identifier))
        // The queue of the socket is full.
        case EAGAIN: .sessionUnavailable(.notAnswering(identifier, message: "too many clients wait for it"))
        default: bad(diagnosis.message)
        }
    }

    /// Returns whether a process still listens on the socket. When a process is killed, its connections close a moment
    /// before its socket. A request at that moment waits in the queue of the socket, and is cut off when the socket
    /// closes. A later request is refused, so a few requests are tried.
    private func isListening() async -> Bool {
        guard let socket = try? location.reach(), let request = try? request(.get, "session", socket) else {
            return false
        }
        for _ in 0..<Self.mostTries {
            do {
                _ = try await Exchange(
                    request, over: transport, atMost: limits.answer, within: limits.hello, time)
                withExtendedLifetime(socket) {}
                return true
            } catch let error where Self.isPassing(error) {
                continue
            } catch Exchange.Failure.transfer(.networkFailed(.connect, let diagnosis)) {
                return ![ENOENT, ENOTDIR, ECONNREFUSED].contains(diagnosis.errno)
            } catch Exchange.Failure.transfer(.networkFailed(.connectionLost, _)) {
                continue
            } catch {
                return true
            }
        }
        return true
    }

    private static let mostTries = 4
}
