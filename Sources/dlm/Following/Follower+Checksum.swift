import DownloadKit
import Foundation
import Synchronization

/// The check of a joined download, whose own request lacks the checksum that this command asks for.
struct JoinedCheck {
    let request: DownloadRequest
    /// Whether the download has ended and its file is being hashed.
    var hasBegun = false
}

/// Checks of joined downloads. The session verifies a joined download as the command asked that added it. A
/// checksum that only this command asks for is checked when the download has ended.
extension Follower {
    func noteChecks(_ requests: RequestList, _ added: [AddedDownload]) {
        // The loop uses indices, because a copy of each element would be expensive.
        for index in added.indices where added[index].kind == .joined {
            let (request, download) = (requests[index], added[index])
            if request.asksForMore(than: download.record.request) {
                checks.withLock { $0[download.record.id] = JoinedCheck(request: request) }
            }
            if let notice = StandingText.otherHooks(request, download.record) { narrator.console.report(notice) }
        }
    }

    /// Begins to check a completed download, if this command asked for a checksum of its own; otherwise returns false.
    /// This command treats the download as ended only after the check.
    func beginCheck(_ snapshot: DownloadSnapshot) -> Bool {
        guard snapshot.record.state == .completed else { return false }
        let (request, hasBegun) = checks.withLock { checks in
            defer { checks[snapshot.id]?.hasBegun = true }
            return (checks[snapshot.id]?.request, checks[snapshot.id]?.hasBegun ?? false)
        }
        guard let request else { return false }
        if !hasBegun {
            Task {
                let checked = await Self.checked(snapshot, request)
                perform { $0.conclude(EndedDownload(checked)) }
            }
        }
        return true
    }

    /// Hashes the file, and returns the snapshot, as failed if the file does not match the request's checksum.
    private static func checked(_ snapshot: DownloadSnapshot, _ request: DownloadRequest) async -> DownloadSnapshot {
        var snapshot = snapshot
        guard let file = snapshot.record.completed else { return snapshot }
        do throws(DownloadError) {
            let keys = request.signedBy
            let given = keys.compactMap { try? GivenKey($0) }
            if !keys.isEmpty, snapshot.record.resume.signature?.isBy(given) != true {
                throw .verificationFailed(
                    .unverifiable(
                        "an earlier command did not ask for the signature; check it: "
                            + "dlm verify --signed-by \(keys[0]) FILE"))
            }
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
            snapshot.progress.state = .failed(error)
        }
        return snapshot
    }
}

extension DownloadRequest {
    /// Returns the checksum that was asked for, or else the one listed for the name of the file or of its URL.
    fileprivate func checksum(of path: String, from finalURL: SourceURL?) throws(DownloadError) -> Checksum? {
        guard checksum == nil, let checksums else { return checksum }
        return try checksums.checksum(forFirstOf: [path, ChecksumList.path(finalURL ?? url)])
    }
}
