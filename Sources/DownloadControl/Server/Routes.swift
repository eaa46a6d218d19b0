import DownloadCore
import DownloadSystem
import Foundation
import NIOHTTP1

/// The handlers for the methods and paths of docs/api.md.
package struct Routes: Sendable {
    let service: any DownloadService
    let identifier: String
    let limits: ControlLimits
    let streams: Slots
    let time: any TimeSource

    package init(
        service: any DownloadService, identifier: String, limits: ControlLimits, time: any TimeSource = SystemTime()
    ) {
        self.time = time
        self.service = service
        self.identifier = identifier
        self.limits = limits
        streams = Slots(limits.streams)
    }

    package func answer(_ request: ControlRequest) async -> ControlAnswer {
        let version = request.headers.first(name: "Dlm-Api")
        if let version, version.trimmingPrefix(" ") != "\(WireCoder.version)" { return incompatible }
        guard let first = request.path.first else { return unknown(request) }
        if first != "v\(WireCoder.version)" { return Self.isVersion(first) ? incompatible : unknown(request) }
        do {
            return try await route(request, Array(request.path.dropFirst()))
        } catch let problem as WireProblem {
            return WireError.answer(problem.error.meaning.controlStatus, named(problem.error))
        } catch let error as DownloadError {
            return WireError.answer(error.meaning.controlStatus, error)
        } catch let error as DecodingError {
            return WireError.answer(400, error.words(about: request.body), session: identifier)
        } catch {
            return WireError.answer(500, .unexpected("\(error)"))
        }
    }

    private func route(_ request: ControlRequest, _ path: [String]) async throws -> ControlAnswer {
        guard let (methods, handle) = handler(path) else { return unknown(request) }
        if methods.contains(request.method) { return try await handle(request) }
        let list = methods.joined(separator: ", ")
        var answer = WireError.answer(405, "\(request.method) is not possible here; use \(list)", session: identifier)
        answer.headers.add(name: "Allow", value: list)
        return answer
    }

    private typealias Handler = (ControlRequest) async throws -> ControlAnswer

    /// Returns the methods that a path supports, and their handler; nil if there is no such path.
    private func handler(_ path: [String]) -> (methods: [String], handle: Handler)? {
        switch (path.first, path.count) {
        case (nil, 0): return (["GET"], hello)
        case ("session", 1): return (["GET", "PATCH"], session)
        case ("session", 2) where path[1] == "shutdown": return (["POST"], shutdown)
        case ("progress", 1): return (["GET"], progress)
        case ("events", 1): return (["GET"], events)
        case ("downloads", 1): return (["GET", "POST", "PATCH"], downloads)
        case ("downloads", 2):
            if let id = DownloadID(path[1]) { return (["GET", "PATCH"], { try await download(id, $0) }) }
            return Verb(rawValue: path[1]).map { verb in (["POST"], { try await perform(verb, $0, id: nil) }) }
        case ("downloads", 3):
            guard let id = DownloadID(path[1]), let verb = Verb(rawValue: path[2]) else { return nil }
            return (["POST"], { try await perform(verb, $0, id: id) })
        default: return nil
        }
    }

    /// Runs `body` and returns its result, or throws after the limit, so that a service that hangs does not block its
    /// client. The work itself continues, because it may be half done.
    func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let (results, end) = AsyncThrowingStream.makeStream(of: Value.self)
        let timer = Task {
            try await time.sleep(for: limit)
            let message = "no answer within \(limit.components.seconds) s"
            end.finish(throwing: DownloadError.sessionUnavailable(.notAnswering(identifier, message: message)))
        }
        Task {
            do { end.yield(try await body()) } catch { end.finish(throwing: error) }
            timer.cancel()
        }
        for try await result in results { return result }
        throw CancellationError()
    }

    func decode<Value: Decodable>(_ type: Value.Type, _ request: ControlRequest) throws -> Value {
        try WireCoder.decode(type, request.body)
    }

    private var incompatible: ControlAnswer {
        // The error's own text names the version of "this process". For the client that would be the wrong version.
        WireError.answer(
            400, .sessionUnavailable(.incompatible(identifier, version: WireCoder.version)),
            message: "this session uses version \(WireCoder.version) of the control API only")
    }

    private func unknown(_ request: ControlRequest) -> ControlAnswer {
        WireError.answer(404, "there is no /\(request.path.joined(separator: "/"))", session: identifier)
    }

    /// Returns the error with the name of this session, which the error itself does not have.
    private func named(_ error: DownloadError) -> DownloadError {
        guard case .sessionUnavailable(.badExchange("", let message)) = error else { return error }
        return .sessionUnavailable(.badExchange(identifier, message: message))
    }

    /// Returns whether a part of a path is a version, such as `v2`.
    package static func isVersion(_ part: String) -> Bool {
        part.first == "v" && part.count > 1 && part.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }
}
