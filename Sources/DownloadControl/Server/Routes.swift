import DownloadCore
import Foundation

/// The handlers for the methods and paths of docs/api.md.
package struct Routes: Sendable {
    let service: any DownloadService
    let identifier: String
    let limits: ControlLimits
    let streams: StreamSlots
    let time: any TimeSource

    package init(
        service: any DownloadService, identifier: String, limits: ControlLimits, time: any TimeSource = SystemTime()
    ) {
        self.time = time
        self.service = service
        self.identifier = identifier
        self.limits = limits
        streams = StreamSlots(limits.streams)
    }

    package func answer(_ request: ControlRequest) async -> ControlAnswer {
        if let version = request.version, version.trimmingPrefix(" ") != "\(WireCoder.version)" { return incompatible }
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
        switch (path.first, path.count) {
        case (nil, 0): return try await only(["GET"], request) { try await hello() }
        case ("session", 1): return try await only(["GET", "PATCH"], request) { try await session(request) }
        case ("session", 2) where path[1] == "shutdown":
            return try await only(["POST"], request) { try await shutdown(request) }
        case ("progress", 1): return try await only(["GET"], request) { try await progress() }
        case ("events", 1): return try await only(["GET"], request) { try await events(request) }
        case ("downloads", 1):
            return try await only(["GET", "POST", "PATCH"], request) { try await downloads(request) }
        case ("downloads", 2):
            if let id = DownloadID(path[1]) {
                return try await only(["GET", "PATCH"], request) { try await download(id, request) }
            }
            guard let verb = Verb(rawValue: path[1]) else { return unknown(request) }
            return try await only(["POST"], request) { try await perform(verb, request, id: nil) }
        case ("downloads", 3):
            guard let id = DownloadID(path[1]), let verb = Verb(rawValue: path[2]) else { return unknown(request) }
            return try await only(["POST"], request) { try await perform(verb, request, id: id) }
        default: return unknown(request)
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

    private func only(
        _ methods: [String], _ request: ControlRequest, _ body: () async throws -> ControlAnswer
    ) async throws -> ControlAnswer {
        if methods.contains(request.method) { return try await body() }
        let list = methods.joined(separator: ", ")
        var answer = WireError.answer(405, "\(request.method) is not possible here; use \(list)", session: identifier)
        answer.allow = list
        return answer
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
