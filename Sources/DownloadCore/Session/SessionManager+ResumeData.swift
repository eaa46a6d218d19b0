import Foundation

extension SessionManager {
    /// Goes on with a download of which the caller kept the record. A store that does not know the download gets it, with
    /// all that the record says of the partial file.
    package func resume(_ kept: DownloadRecord, overrides: RequestOverrides) async throws -> DownloadRecord {
        var id = kept.id
        if try await !knows(kept) {
            var request = kept.request
            request.startsPaused = true
            guard let added = try await add([request]).first else { throw DownloadError.noSuchDownload(id) }
            if added.kind == .joined { return added.record }
            id = added.record.id
            if added.kind == .inserted { try await putBack(kept, as: added.record) }
        }
        guard let claimed = try await resume([id], overrides: overrides).first else {
            throw DownloadError.noSuchDownload(id)
        }
        return claimed.record
    }

    /// Numbers are those of a store: in another one the number means another download.
    private func knows(_ kept: DownloadRecord) async throws -> Bool {
        let record: DownloadRecord?
        do { record = try await store.records(.ids([kept.id])).first } catch DownloadError.noSuchDownload {
            record = nil
        }
        guard let record else { return false }
        let (known, asked) = (record.request.destination, kept.request.destination)
        return record.request.url == kept.request.url && known.folder == asked.folder
            && known.fileName == asked.fileName
    }

    private func putBack(_ kept: DownloadRecord, as added: DownloadRecord) async throws {
        var record = added
        record.request.startsPaused = kept.request.startsPaused
        record.fileName = kept.fileName
        record.isFinishing = kept.isFinishing
        record.resume = kept.resume
        _ = try await store.save([record], session: identifier)
    }
}
