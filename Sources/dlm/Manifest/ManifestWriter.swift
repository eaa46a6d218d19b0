import CSystem
import DownloadKit
import Foundation
import Glibc
import Synchronization

/// Appends lines to a manifest. Lines that come while a batch is written make the next batch, with one sync for each.
final class ManifestWriter: Sendable {
    private struct State {
        var pending: [ManifestEntry] = []
        var task: Task<Void, Never>?
        var failure: DownloadError?
        var isHurried = false
    }

    let path: String
    private let descriptor: Int32
    private let hashes: Bool
    private let queue = DispatchQueue(label: "dlm.manifest")
    private let state = Mutex(State())

    /// - Parameter hashes: lines of files without a SHA-256 digest get one; the file was just written, or is read again.
    init(_ path: String, hashes: Bool) throws(DownloadError) {
        self.path = path
        self.hashes = hashes
        descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw .file(errno, "open", path: path) }
        try mend()
    }

    deinit { close(descriptor) }

    /// Nil as long as all lines were written.
    var failure: DownloadError? { state.withLock { $0.failure } }

    func append(_ entry: ManifestEntry) {
        state.withLock { state in
            if state.failure != nil { return }
            state.pending.append(entry)
            if state.task == nil { state.task = Task.detached { [self] in await work() } }
        }
    }

    /// Returns when all lines are on the disk.
    func finish() async {
        while let task = state.withLock({ $0.task }) { await task.value }
    }

    /// The process is about to end: lines of files that would have to be hashed first are left to the next run.
    func hurry() { state.withLock { $0.isHurried = true } }

    // MARK: Writing

    private func work() async {
        while true {
            let batch = state.withLock { state -> [ManifestEntry] in
                defer { state.pending = [] }
                if state.pending.isEmpty { state.task = nil }
                return state.pending
            }
            if batch.isEmpty { return }
            var text = ""
            for entry in batch {
                guard let entry = await completed(entry) else { continue }
                text += entry.json + "\n"
            }
            let failure = await write(Array(text.utf8))
            if let failure { state.withLock { ($0.failure, $0.pending) = (failure, []) } }
        }
    }

    /// With the digest of its file; nil if there is no time for that.
    private func completed(_ entry: ManifestEntry) async -> ManifestEntry? {
        guard hashes, entry.status == .done, entry.sha256 == nil, let path = entry.path else { return entry }
        let isHurried: @Sendable () -> Bool = { [self] in state.withLock { $0.isHurried } }
        var completed = entry
        do throws(DownloadError) {
            let hash = try await FileHash.of(path, .sha256, size: entry.bytes, on: queue, unless: isHurried)
            guard let hash else { return nil }
            completed.sha256 = hash.digest
        } catch {
            // Somebody has moved or changed the file already: it is no longer what the line would say.
            completed = entry.failed(error)
        }
        return completed
    }

    private func write(_ bytes: [UInt8]) async -> DownloadError? {
        if bytes.isEmpty { return nil }
        return await withCheckedContinuation { continuation in
            queue.async { [self] in
                do throws(DownloadError) {
                    try append(bytes)
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
    }

    /// One write: other processes that append see whole lines only.
    private func append(_ bytes: [UInt8]) throws(DownloadError) {
        let start = lseek(descriptor, 0, SEEK_END)
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 {
                let code = errno
                // What follows would stand behind a torn line.
                if written > 0, start >= 0 { _ = ftruncate(descriptor, start) }
                throw .file(code, "write", path: path)
            }
            written += count
        }
        if fdatasync(descriptor) != 0 { throw .file(errno, "fdatasync", path: path) }
    }

    // MARK: Mending

    private static let longestTail: Int64 = 1 << 20

    /// Takes away the last line if its writer was killed within it.
    private func mend() throws(DownloadError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .fileFailed(.notRegular, path: path)
        }
        let size = Int64(status.st_size)
        if size == 0 { return }
        let start = max(0, size - Self.longestTail)
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(size - start)) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, Int(size - start), off_t(start)))
        }
        guard bytes.count == Int(size - start) else { throw .file(errno, "read", path: path) }
        let end = bytes.lastIndex(of: UInt8(ascii: "\n"))
        guard end != nil || start == 0 else { throw .noManifest(path, "its last line is longer than 1 MiB") }
        let tail = bytes[((end ?? -1) + 1)...]
        if !tail.isEmpty {
            // Another file that was named by mistake keeps all it has.
            guard tail.first == UInt8(ascii: "{") else { throw .noManifest(path, "its last line is not a JSON object") }
            if (try? ManifestEntry(line: tail)) != nil { return try append([UInt8(ascii: "\n")]) }
            guard ftruncate(descriptor, off_t(size) - off_t(tail.count)) == 0 else {
                throw .file(errno, "ftruncate", path: path)
            }
        } else if let end, let before = bytes[..<end].split(separator: UInt8(ascii: "\n")).last,
            ManifestFile.url(of: before) == nil
        {
            throw .noManifest(path, "its last line has no URL")
        }
    }
}

extension ManifestEntry {
    /// The same URL, whose file is not what it should be.
    func failed(_ error: DownloadError) -> ManifestEntry {
        var failed = ManifestEntry(rejected: url, error: Failure(error), of: nil, at: ended)
        (failed.bytes, failed.attempts, failed.seconds) = (bytes, attempts, seconds)
        (failed.shard, failed.shardBy) = (shard, shardBy)
        return failed
    }
}
