import DownloadCore
import DownloadSystem

/// The step that continues a file which another program left unfinished under the final name (`-c`).
struct Adoption: AttemptPhase {
    let attempt: Attempt
    let probe: Probe
    let naming: Naming
    let name: String
    let found: FileStatus.Info

    /// Compares the last bytes of the found file with the server's file. If they are the same, the found file becomes
    /// the partial file, or is recorded as complete if it has the full size. Throws if the bytes differ. If the
    /// server's file has another name, the found file is left as it is. Returns true if the found file is complete.
    @inline(never)
    func run() async throws -> Bool {
        if size > 0 {
            let isLocal = record.request.url.known == .file
            guard let total = try await isLocal ? compareWithLocalFile() : compareWithServer() else {
                naming.isNamedByServer = true
                await attempt.endTransfers()
                return false
            }
            if total == size {
                let completed = CompletedFile(path, found, record.resume.validators)
                try await Verification(attempt: attempt).complete(with: completed)
                return true
            }
        }
        let before = record
        if size > 0 { record.resume.movedFrom = record.request.url }
        do {
            try await attempt.adopt(name, found, written: ByteRanges(size > 0 ? [0..<size] : []))
        } catch {
            record = before
            throw error
        }
        return false
    }

    private var size: Int64 { found.size }
    private var path: String { FileNaming.path(record.request.destination.folder, name) }
    /// The range that is compared with the server's file: the last 64 KiB of the found file.
    private var compared: Range<Int64> { max(0, size - (64 << 10))..<size }

    private func differs(_ why: String) -> DownloadError { .verificationFailed(.notItsBeginning(path: path, why: why)) }

    /// Compares the last bytes of the found file with the server's file, and throws if they differ. Returns the size of
    /// the server's file, or nil if the server's file has another name. The file on disk is not changed.
    private func compareWithServer() async throws -> Int64? {
        let answer: ProbeAnswer
        do {
            guard let found = try await probe.run(comparing: compared) else {
                throw DownloadError.unexpected("no answer to compare with")
            }
            answer = found
        } catch {
            let head = attempt.transfers.probe?.head
            if let head, head.status == 416, hasSameName(head, record.request.url) {
                throw differs("it has \(size) bytes, and the server's file has fewer")
            }
            throw error
        }
        guard case .body(let offset, _, let total)? = answer.segment.verdict else {
            throw DownloadError.unexpected("no answer to compare with")
        }
        if !hasSameName(answer.head, answer.url) { return nil }
        if let total, total < size { throw differs("it has \(size) bytes, and the server's file has \(total)") }
        guard offset == compared.lowerBound, answer.head.status == 206, let total else {
            throw differs("the server does not send parts of the file, so nothing can be compared")
        }
        let result = try await attempt.end(of: answer)
        if let error = attempt.ended(answer.segment, result).outcome.error { throw error }
        let ours = try await read()
        let isSame = answer.segment.position == size && answer.segment.withWhole { $0.elementsEqual(ours) }
        attempt.transfers.probe = nil
        if !isSame { throw differs("its last \(compared.count) bytes differ") }
        try probe.learn(from: answer)
        return total
    }

    private func hasSameName(_ head: ResponseHead, _ url: SourceURL) -> Bool {
        record.request.destination.name(of: head, from: url) == name
    }

    /// Compares the last bytes of the found file with the local file that is to be copied, and throws if they differ.
    /// Returns the size of the local file.
    private func compareWithLocalFile() async throws -> Int64? {
        let source = try LocalSource(try record.request.url.localPath())
        guard source.status.size >= size else {
            throw differs("it has \(size) bytes, and the file to copy has \(source.status.size)")
        }
        let theirs = try await context.disk.onWriter { [compared] () throws(DownloadError) in
            try source.read(compared)
        }
        guard try await read().elementsEqual(theirs) else {
            throw differs("its last \(compared.count) bytes differ")
        }
        return source.status.size
    }

    private func read() async throws(DownloadError) -> [UInt8] {
        try await context.disk.onWriter { [path, compared] () throws(DownloadError) in
            try FileStatus.read(path, compared)
        }
    }
}
