import Foundation

/// A pause that a server asked for in its answer to one download (429 or 503 with `Retry-After`). Other downloads from
/// the server wait for its end, too.
package struct HostPause: Codable, Sendable, Equatable {
    /// The origin of the server.
    package let origin: String
    package let status: Int
    @TextDate package var until: Date
    /// The downloads that got such an answer and wait for their next attempt.
    package let causes: [DownloadID]

    package init(origin: String, status: Int, until: Date, causes: [DownloadID]) {
        self.origin = origin
        self.status = status
        self.until = until
        self.causes = causes
    }
}

extension DownloadSnapshot {
    /// Whether the download waits because of an answer that may have asked for a pause of the whole server.
    package var mayPauseItsHost: Bool {
        if case .waiting(.retry(let error), _) = state {
            ServerPause.statuses.contains(error.httpStatus ?? 0)
        } else {
            false
        }
    }

    /// Shows a queued download as waiting if one of the pauses keeps it from starting.
    package mutating func show(_ pauses: [HostPause]) {
        guard record.state == .queued, let pause = pauses.first(where: { $0.origin == record.source.origin }) else {
            return
        }
        let state = DownloadState.waiting(.server(status: pause.status), until: pause.until)
        record.move(to: state)
        progress.state = state
    }
}
