import DownloadCore
import Glibc

extension Routes {
    func hello(_: ControlRequest) async throws -> ControlAnswer {
        try await within(limits.answer) {
            try await service.checkAvailability()
            return .json(WireHello(identifier: identifier, pid: getpid()))
        }
    }

    func session(_ request: ControlRequest) async throws -> ControlAnswer {
        let settings = request.method == "PATCH" ? try decode(SessionSettings.self, request) : nil
        if let settings {
            _ = try settings.maxConcurrent.within(SessionSettings.possibleDownloads, "maxConcurrent")
            _ = try settings.maxPerHost.within(SessionSettings.possibleDownloads, "maxPerHost")
            _ = try settings.rateLimit.within(0 ... .max, "rateLimit")
        }
        return try await within(limits.answer) {
            if let settings { try await service.configure(settings) }
            return .json(WireSession(try await service.status()))
        }
    }

    func shutdown(_ request: ControlRequest) async throws -> ControlAnswer {
        let mode = request.body.isEmpty ? .pause : try decode(WireShutdown.self, request).mode
        return try await within(limits.answer) {
            try await service.shutdown(mode)
            return .json(WireDone(), status: 202)
        }
    }

    func progress(_: ControlRequest) async throws -> ControlAnswer {
        try await within(limits.answer) { .json(WireProgress(await service.progress())) }
    }
}
