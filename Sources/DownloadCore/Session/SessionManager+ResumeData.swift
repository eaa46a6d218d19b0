import Foundation

extension SessionManager {
    /// Resumes a download of which the caller kept the record. If the store does not know the download, it is added,
    /// together with the resume data of the record.
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

    /// Returns whether the store has this download. The number alone does not tell, because it means another download
    /// in another store.
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
