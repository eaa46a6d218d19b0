import DownloadKit
import Foundation
import Synchronization

/// What was asked of a download that somebody else had begun without that.
struct JoinedCheck {
    let request: DownloadRequest
    /// The download has ended, and its file is being hashed.
    var hasBegun = false
}

/// A download that is joined is verified as whoever began it wished. What is wished here is checked at its end.
extension Follower {
    func noteChecks(_ requests: [DownloadRequest], _ added: [AddedDownload]) {
        for (request, download) in zip(requests, added)
        where download.kind == .joined {
            if request.asksForMore(than: download.record.request) {
                checks.withLock { $0[download.record.id] = JoinedCheck(request: request) }
            }
            narrator.tellHooks(of: request, download.record)
        }
    }

    /// False: there is nothing to check. Otherwise the download has not ended for us before that is done.
    func beginCheck(_ snapshot: DownloadSnapshot) -> Bool {
        guard snapshot.record.state == .completed else { return false }
        let (request, hasBegun) = checks.withLock { checks in
            defer { checks[snapshot.id]?.hasBegun = true }
            return (checks[snapshot.id]?.request, checks[snapshot.id]?.hasBegun ?? false)
        }
        guard let request else { return false }
        if !hasBegun { Task { inbox.yield(.checked(await Self.checked(snapshot, request))) } }
        return true
    }

    /// The download as whoever made the request sees it.
    private static func checked(_ snapshot: DownloadSnapshot, _ request: DownloadRequest) async -> DownloadSnapshot {
        var snapshot = snapshot
        guard let file = snapshot.record.completed else { return snapshot }
        do throws(DownloadError) {
            guard let checksum = try request.checksum(of: file.path, from: snapshot.record.resume.finalURL),
                checksum != file.checksum
            else { return snapshot }
            let hash = try await FileHash.of(
                file.path, checksum.algorithm, size: file.bytes, on: DispatchQueue(label: "dlm.verify"))
            if hash.digest != checksum.digest {
                throw .verificationFailed(.checksum(expected: checksum, actual: hash.digest))
            }
            snapshot.record.completed?.checksum = checksum
            snapshot.record.completed?.verifiedBy = .user
        } catch {
            snapshot.record.state = .failed(error)
        }
        return snapshot
    }
}

extension DownloadRequest {
    /// What is asked for, or listed for a file that has its name.
    fileprivate func checksum(of path: String, from finalURL: SourceURL?) throws(DownloadError) -> Checksum? {
        guard checksum == nil, let checksums else { return checksum }
        return try checksums.checksum(forFirstOf: [path, ChecksumList.path(finalURL ?? url)])
    }
}
