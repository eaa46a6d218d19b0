import DownloadCore
import DownloadSystem
import Foundation
import HTTPTypes
import Synchronization

/// A `DownloadService` for a session in another process. Each call is a request to the session's socket
/// (docs/api.md).
package final class ControlClient: DownloadService {
    package struct Limits: Sendable {
        /// The time for requests that a session answers at once, such as the check of its availability.
        package var hello = Duration.seconds(3)
        /// The time for all other requests. It is longer than the time that a session allows for any request.
        package var verb = Duration.seconds(70)
        /// The longest wait for a live session that does not listen, because it is starting or ending.
        package var start = Duration.seconds(15)
        /// The most bytes of one response.
        package var answer = 64 << 20

        package init() {}
    }

    let identifier: String
    let location: SessionLocation
    let limits: Limits
    let time: any TimeSource
    let readLog: LogReading
    private let isAlive: @Sendable () -> Bool
    private let transport: any Transport
    private let isClosed = Mutex(false)

    /// Reads the log of the session's store after a cursor. The log ends with an error when the session is gone.
    package typealias LogReading =
        @Sendable (_ cursor: EventCursor?) async throws -> AsyncThrowingStream<LogEntry, any Error>

    /// Creates a client without sending a request. The caller still owns the transport.
    /// - Parameter isAlive: Returns whether a process has the lock of the session.
    package init(
        transport: any Transport, location: SessionLocation, limits: Limits = Limits(),
        time: any TimeSource = SystemTime(), isAlive: @escaping @Sendable () -> Bool, readLog: @escaping LogReading
    ) {
        self.isAlive = isAlive
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

    /// Sends a request, and waits while a live session does not listen yet or any more. A request is repeated only if
    /// libcurl could not connect, so that no session can have received it.
    /// - Parameter json: the body, if there is one.
    func ask(
        _ method: HTTPRequest.Method, _ path: String, json: Data?, within patience: Duration? = nil
    ) async throws -> Data {
        var patience = patience ?? limits.verb
        let socket = try location.reach()
        defer { withExtendedLifetime(socket) {} }
        var request = try request(method, path, socket)
        if let json {
            request.options.body = Array(json)
            request.options.fields[.contentType] = "application/json"
        }
        request.options.stallTimeout = Double(patience.components.seconds) + 5
        var deadline: ContinuousClock.Instant?
        var (tries, isLost) = (0, false)
        while true {
            let answer = await transport.answer(to: request, atMost: limits.answer, within: patience, time)
            switch answer.result.ending {
            case .complete where !isLost:
                guard let head = answer.head else { throw bad("an answer without a head") }
                let body = Data(answer.body)
                try check(head, body)
                return body
            case .failed(.networkFailed(.connect, let diagnosis)) where Self.isAbsent(diagnosis):
                // The wait begins now and not with the request, because a session may end during a long request.
                let end = deadline ?? time.now + min(limits.start, patience)
                deadline = end
                try await waitForListener(until: end)
            case .failed(.networkFailed(.connect, let diagnosis))
            where [EAGAIN, ECONNRESET].contains(diagnosis.errno) && tries < Self.mostRepeats:
                // The socket closed at that moment, or its queue is full.
                tries += 1
            case .failed(.networkFailed(.connectionLost, _)) where tries < Self.mostRepeats:
                // When a process is killed, its connections close a moment before its socket. A request at that moment
                // waits in the queue of the socket, and is cut off when the socket closes. A later request is refused.
                (tries, isLost) = (tries + 1, true)
                (request, patience) = (try self.request(.get, "session", socket), limits.hello)
            case let ending:
                throw isLost ? bad("the connection was lost") : explain(ending, answer, within: patience)
            }
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

    private static let mostRepeats = 3
    private static let pace = Duration.milliseconds(20)

    /// Returns whether nothing listens on the socket.
    private static func isAbsent(_ diagnosis: TransportDiagnosis) -> Bool {
        [ENOENT, ENOTDIR, ECONNREFUSED].contains(diagnosis.errno)
    }

    /// Pauses before the next request. A session that starts has its lock shortly before it has its socket. A session
    /// that ends removes its socket shortly before it releases its lock.
    private func waitForListener(until deadline: ContinuousClock.Instant) async throws {
        guard isAlive() else { throw DownloadError.sessionUnavailable(.notRunning(identifier)) }
        guard time.now < deadline else { throw silent("it does not listen at \(location.socketPath)") }
        try await time.sleep(for: Self.pace)
    }

    private func explain(
        _ ending: TransferResult.Ending, _ answer: CollectedAnswer, within patience: Duration
    ) -> any Error {
        if answer.isTooLarge { return bad("its answer is too long") }
        if answer.isLate { return silent("no answer within \(patience.components.seconds) s") }
        guard case .failed(let error) = ending else { return CancellationError() }
        switch error {
        case .networkFailed(.connect, let diagnosis):
            return diagnosis.errno == EAGAIN ? silent("too many clients wait for it") : bad(diagnosis.message)
        case .networkFailed(.timedOut, _), .networkFailed(.stalled, _): return silent("")
        case .networkFailed(.connectionLost, _): return bad("the connection was lost")
        case .sessionUnavailable: return error
        default: return bad(error.description)
        }
    }

    private func silent(_ message: String) -> DownloadError {
        .sessionUnavailable(.notAnswering(identifier, message: message))
    }
}
