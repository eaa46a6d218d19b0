import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The writer of a manifest, which appends lines in batches. Lines that are added while a batch is written form the
/// next batch. Each batch needs only one `fdatasync`.
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
    /// Called with the entries whose lines are on the disk.
    private let written: (@Sendable ([ManifestEntry]) -> Void)?
    private let queue = DispatchQueue(label: "dlm.manifest")
    private let state = Mutex(State())

    /// - Parameter hashes: Whether the SHA-256 digest of a file is computed if it is not known yet. For the digest, the
    ///   file is read, usually from the page cache.
    init(
        _ path: String, hashes: Bool, written: (@Sendable ([ManifestEntry]) -> Void)? = nil
    ) throws(DownloadError) {
        self.path = path
        self.hashes = hashes
        self.written = written
        descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw .file(errno, "open", path: path) }
        try alone { () throws(DownloadError) in try mend() }
    }

    deinit { close(descriptor) }

    var failure: DownloadError? { state.withLock { $0.failure } }

    func append(_ entry: ManifestEntry) {
        state.withLock { state in
            if state.failure != nil { return }
            state.pending.append(entry)
            if state.task == nil { state.task = Task.detached { [self] in await work() } }
        }
    }

    func finish() async {
        while let task = state.withLock({ $0.task }) { await task.value }
    }

    /// Leaves out the lines of files that must still be hashed, for the next run, because the process is about to end.
    func hurry() { state.withLock { $0.isHurried = true } }

    private func work() async {
        while true {
            let batch = state.withLock { state -> [ManifestEntry] in
                defer { state.pending = [] }
                if state.pending.isEmpty { state.task = nil }
                return state.pending
            }
            if batch.isEmpty { return }
            var text = ""
            var entries: [ManifestEntry] = []
            for entry in batch {
                guard let entry = await completed(entry) else { continue }
                text += entry.json + "\n"
                entries.append(entry)
            }
            do throws(DownloadError) {
                let bytes = Array(text.utf8)
                if !bytes.isEmpty {
                    try await queue.run { [self] () throws(DownloadError) in
                        try alone { () throws(DownloadError) in try append(bytes) }
                    }
                }
                written?(entries)
            } catch {
                state.withLock { ($0.failure, $0.pending) = (error, []) }
            }
        }
    }

    /// Returns the entry with the digest of its file, or nil if there is no time to compute it.
    private func completed(_ entry: ManifestEntry) async -> ManifestEntry? {
        guard hashes, entry.status == .done, entry.sha256 == nil, let path = entry.path else { return entry }
        let isHurried: @Sendable () -> Bool = { [self] in state.withLock { $0.isHurried } }
        var completed = entry
        do throws(DownloadError) {
            let hash = try await FileHash.of(path, .sha256, size: entry.bytes, on: queue, unless: isHurried)
            guard let hash else { return nil }
            completed.sha256 = hash.digest
        } catch {
            // The file has already been moved or changed, so an entry with the status `done` would be wrong.
            completed = entry.failed(error)
        }
        return completed
    }

    /// Locks the file while `body` runs, so that no other process mends the file or appends to it before a line is
    /// complete. A file system without such locks (some NFS) is used without.
    private func alone<Result>(_ body: () throws(DownloadError) -> Result) throws(DownloadError) -> Result {
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        defer { _ = flock(descriptor, LOCK_UN) }
        return try body()
    }

    /// Appends the bytes, with one write(2) if possible, so that other processes that read the file see only whole
    /// lines.
    private func append(_ bytes: [UInt8]) throws(DownloadError) {
        let start = lseek(descriptor, 0, SEEK_END)
        guard bytes.withUnsafeBytes({ FileBytes.write($0, to: descriptor) }) else {
            let code = errno
            // The partial line is removed. Otherwise the next line would be appended to it.
            if start >= 0, lseek(descriptor, 0, SEEK_CUR) > start { _ = ftruncate(descriptor, start) }
            throw .file(code, "write", path: path)
        }
        if fdatasync(descriptor) != 0 { throw .file(errno, "fdatasync", path: path) }
    }

    private static let longestTail: Int64 = 1 << 20

    /// Removes a partial last line, which a killed process may have left. If the last line is a whole entry without a
    /// line break, this method adds the line break.
    private func mend() throws(DownloadError) {
        guard let status = FileStatus.of(descriptor: descriptor), status.isRegular else {
            throw .fileFailed(.notRegular, path: path)
        }
        let size = status.size
        if size == 0 { return }
        let start = max(0, size - Self.longestTail)
        guard let bytes = FileBytes.read(descriptor, start..<size), bytes.count == Int(size - start) else {
            throw .file(errno, "read", path: path)
        }
        // After a power failure, the file may end with zero bytes in place of lines that never reached the disk.
        let kept = bytes.prefix((bytes.lastIndex { $0 != 0 } ?? -1) + 1)
        let lost = bytes.count - kept.count
        let end = kept.lastIndex(of: UInt8(ascii: "\n"))
        guard end != nil || start == 0 else { throw .noManifest(path, "its last line is longer than 1 MiB") }
        let tail = kept[((end ?? -1) + 1)...]
        if !tail.isEmpty {
            // If the user named a file by mistake that is no manifest, the file is not changed.
            guard tail.first == UInt8(ascii: "{") else { throw .noManifest(path, "its last line is not a JSON object") }
            if lost == 0, (try? ManifestEntry(line: tail)) != nil { return try append([UInt8(ascii: "\n")]) }
        } else {
            let line = end.flatMap { kept[..<$0].split(separator: UInt8(ascii: "\n")).last }
            guard line.map({ ManifestFile.url(of: $0) != nil }) ?? (lost == 0) else {
                throw .noManifest(path, "its last line has no URL")
            }
        }
        let cut = tail.count + lost
        if cut > 0, ftruncate(descriptor, off_t(size) - off_t(cut)) != 0 {
            throw .file(errno, "ftruncate", path: path)
        }
    }
}
