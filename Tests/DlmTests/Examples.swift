import DownloadCore
import Foundation

@testable import dlm

extension SourceURL {
    /// Returns the URL of a text that is known to be valid.
    static func example(_ text: String) -> SourceURL {
        guard case .success(let parsed) = SourceURL.parse(text) else { preconditionFailure("not a URL: \(text)") }
        return parsed.url
    }
}

extension DownloadRecord {
    static func example(
        id: DownloadID = 3, url: String = "https://cd.example.org/debian-12.iso", folder: String = "/home/me/iso",
        state: DownloadState = .queued, _ change: (inout DownloadRecord) -> Void = { _ in }
    ) -> DownloadRecord {
        var request = DownloadRequest(url: .example(url), destination: Destination(folder: folder))
        request.proof = .auto
        var record = DownloadRecord(
            id: id, request: request, state: state, created: Date(timeIntervalSince1970: 1_700_000_000))
        change(&record)
        return record
    }

    /// Sets the record to `received` bytes of `total`.
    mutating func receive(_ received: Int64, of total: Int64?) {
        resume.total = total
        if received > 0 { resume.written.insert(0..<received) }
    }

    mutating func complete(_ bytes: Int64 = 4, path: String = "/home/me/iso/debian-12.iso") {
        state = .completed
        fileName = path.split(separator: "/").last.map(String.init)
        completed = CompletedFile(
            path: path, bytes: bytes, identity: FileIdentity(inode: 1, born: nil), modified: 0, validators: Validators()
        )
    }
}

extension ProgressFrame.Row {
    init(
        id: DownloadID, name: String, state: DownloadState.Kind = .running, received: Int64, total: Int64? = nil,
        speed: Double? = nil, left: Double? = nil, note: String? = nil
    ) {
        let states: [DownloadState.Kind: DownloadState] = [
            .queued: .queued, .running: .running, .waiting: .waiting(.schedule, until: nil), .paused: .paused(.user),
            .failed: .failed(.cancelled), .completed: .completed, .cancelled: .cancelled,
        ]
        self.init(
            DownloadProgress(
                id: id, name: name, state: states[state] ?? .queued, received: received, total: total, speed: speed),
            note: note)
        self.left = left
    }
}
