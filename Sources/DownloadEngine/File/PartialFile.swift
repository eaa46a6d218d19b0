import CSystem
import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// The file `NAME.part` beside the final name, to which an attempt writes the bytes of a download. The file is locked
/// against all other processes. Checkpoints record the ranges that this object keeps.
package final class PartialFile: SegmentTarget, Sendable {
    package let folder: String
    /// The final name of the file, without `.part`.
    package let name: String
    package let identity: FileIdentity
    package let device: UInt64
    let descriptor: Int32
    let folderDescriptor: Int32
    package let isInMemory: Bool
    let keepsExactBooks: Bool
    /// Whether the file may have a description (``describe(_:version:)``).
    let mayBeDescribed: Atomic<Bool>

    struct State {
        var written: ByteRanges
        var durable: ByteRanges
        var lostSync = false
        var unsynced: Int64 = 0
        /// The number of times that bytes were given up. A sync that began under an older version does not prove that
        /// today's ranges are durable.
        var version = 0
        var failure: DownloadError?
        var differs = false
        var onWrite: (@Sendable () -> Void)?
        var isNameSynced = false
        /// Whether two runs of bytes are compared where they meet before they become one run (see ``proveJoins(_:)``).
        var provesJoins = false
        /// The offsets at which a run begins whose join with the run before it is not compared yet.
        var unproven: Set<Int64> = []
        /// The number of the watch in ``WriterWatch``.
        var watch: Int32?
        /// The offset before which all bytes were taken out of a spool (``take(into:)``).
        var taken: Int64 = 0
    }

    let state: Mutex<State>
    /// The size in bytes of a spool, in which each byte is at its offset modulo this size. `.max` for other files.
    let ring: Int64
    /// The offset up to which a spool takes bytes now.
    let room: Atomic<Int64>

    init(
        folder: String, name: String, folderDescriptor: Int32, descriptor: Int32, status: FileStatus.Info,
        isDescribed: Bool = false, ring: Int64 = .max
    ) {
        self.folder = folder
        self.name = name
        self.folderDescriptor = folderDescriptor
        self.descriptor = descriptor
        identity = status.identity
        device = status.device
        let system = dlm_file_system_of(descriptor)
        (isInMemory, keepsExactBooks) = (system.is_in_memory, system.keeps_exact_books)
        mayBeDescribed = Atomic(isDescribed)
        state = Mutex(State(written: ByteRanges(), durable: ByteRanges()))
        self.ring = ring
        room = Atomic(ring == .max ? ring : ring - Self.spoolMargin)
    }

    deinit {
        endWatch()
        WriterWatch.shared.close(descriptor, identity, device: device)
        Glibc.close(folderDescriptor)
    }

    package var path: String { FileNaming.path(folder, FileNaming.partial(name)) }

    // MARK: Opening

    package enum Mode: Equatable {
        /// The file must not exist yet.
        case create
        /// The file exists, and no other download has it open.
        case reopen
    }

    package static func open(
        folder: String, name: String, mode: Mode, followsLinks: Bool, time: any TimeSource = SystemTime()
    ) throws(DownloadError) -> PartialFile {
        let path = FileNaming.path(folder, FileNaming.partial(name))
        // The lock is checked through a read-only descriptor first. Opening the file for writing and closing it again
        // would look, to the process that owns the file, like a write by another program.
        if mode == .reopen, !waitUntil(time, { !isLocked(path) }) { throw .fileFailed(.locked, path: path) }
        let folderDescriptor = try FileStatus.openFolder(folder, followsLinks: followsLinks)
        let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (mode == .create ? O_CREAT | O_EXCL : 0)
        let descriptor = openat(folderDescriptor, FileNaming.partial(name), flags, 0o666)
        guard descriptor >= 0 else {
            let code = errno
            Glibc.close(folderDescriptor)
            throw code == EEXIST ? .fileFailed(.partialExists, path: path) : .file(code, "open", path: path)
        }
        guard let status = FileStatus.of(descriptor: descriptor), status.isRegular else {
            // A new file that is not used would be in the way of the next attempt.
            if mode == .create { unlinkat(folderDescriptor, FileNaming.partial(name), 0) }
            Glibc.close(descriptor)
            Glibc.close(folderDescriptor)
            throw .fileFailed(.replaced, path: path)
        }
        let file = PartialFile(
            folder: folder, name: name, folderDescriptor: folderDescriptor, descriptor: descriptor, status: status,
            isDescribed: mode == .reopen)
        guard waitUntil(time, { dlm_lock_exclusive(descriptor) == 0 }) else {
            throw .fileFailed(.locked, path: path)
        }
        return file
    }

    /// Returns whether a download has locked the file. The check itself takes the lock for a moment, and the check of
    /// another process may see that lock. So `waitUntil` checks repeatedly.
    package static func isLocked(_ path: String) -> Bool {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        return dlm_lock_exclusive(descriptor) != 0
    }

    /// Returns why the partial name is taken. Another process may have made the file and not locked it yet, so one
    /// check is not enough.
    package static func whyTaken(
        _ path: String, time: any TimeSource, isLocked: (String) -> Bool = isLocked
    ) -> FileFailure {
        waitUntil(time) { isLocked(path) } ? .locked : .partialExists
    }

    private static func waitUntil(_ time: any TimeSource, _ isSo: () -> Bool) -> Bool {
        for _ in 0..<20 {
            if isSo() { return true }
            time.block(for: .milliseconds(1))
        }
        return false
    }

    /// Gives up the lock, so that other attempts can open the file while this object is still in memory. Nothing may be
    /// written afterwards.
    package func unlock() {
        endWatch()
        dlm_unlock(descriptor)
    }

    /// Returns the length of the file on disk, in bytes.
    package func length() throws(DownloadError) -> Int64 { try status().size }

    // MARK: Ranges

    package var written: ByteRanges { state.withLock { $0.written } }
    package var durable: ByteRanges { state.withLock { $0.durable } }
    package var failure: DownloadError? { state.withLock { $0.failure } }
    /// Whether bytes that came again differ from the bytes in the file.
    package var differs: Bool { state.withLock { $0.differs } }
    /// Whether the file takes no more writes.
    package var refusesWrites: Bool { state.withLock { $0.failure != nil || $0.differs } }
    /// The number of bytes written since the last ``sync()``.
    package var unsynced: Int64 { state.withLock { $0.unsynced } }

    /// Sets whether joins are proved from now on (see ``write(_:at:)``). Joins can be proved only where transfers fetch
    /// some bytes of each neighbour again.
    package func proveJoins(_ proves: Bool) {
        state.withLock { state in
            state.provesJoins = proves
            if !proves { state.unproven = [] }
        }
    }

    /// Clears ``differs``. Called after the doubtful bytes were forgotten, so that they are fetched again.
    package func forgetDifference() { state.withLock { $0.differs = false } }

    /// Sets the ranges that a checkpoint says are written and durable.
    package func trust(written: ByteRanges, durable: ByteRanges) {
        state.withLock { state in
            state.written = written
            state.durable = durable
        }
    }

    /// Sets an action that is called on the writer's thread after every write.
    package func notifyWrites(_ action: (@Sendable () -> Void)?) {
        state.withLock { $0.onWrite = action }
    }

    /// Removes ranges from ``written`` and ``durable``, because the bytes are doubtful or another program cut them off.
    package func forget(_ ranges: ByteRanges) {
        let wasDurable = state.withLock { state in
            let wasDurable = !state.durable.intersection(ranges).isEmpty
            for range in ranges.ranges {
                state.written.remove(range)
                state.durable.remove(range)
            }
            if !ranges.isEmpty { state.version += 1 }
            if ranges.ranges.first.map({ $0.lowerBound < state.taken }) ?? false {
                state.failure = state.failure ?? Self.takenBack
            }
            return wasDurable
        }
        if wasDurable { forgetDescription() }
    }

    package var version: Int { state.withLock { $0.version } }

    // MARK: The writer's thread

    /// Writes the bytes that are missing and marks them as written. Compares the other bytes with those in the file.
    /// After the first failure or difference, later writes do nothing.
    ///
    /// After ``proveJoins(_:)``, if the bytes end where another run begins, the last byte is not marked as written at
    /// first. It is marked once some bytes after it have come again and were the same. So two runs of `written` never
    /// touch without proof.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let range = offset..<offset + Int64(bytes.count)
        guard !refusesWrites else { return }
        if isSpool, range.upperBound > kept.upperBound { return fail(.unexpected("bytes beyond the spool")) }
        let (written, provesJoins) = state.withLock { ($0.written, $0.provesJoins) }
        let waits = provesJoins && written.contains(range.upperBound..<range.upperBound + 1)
        guard written.overlaps(range) else { return writeMissing(bytes, at: offset, waits: waits) }
        func part(_ range: Range<Int64>) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[Int(range.lowerBound - offset)..<Int(range.upperBound - offset)])
        }
        let missing = written.missing(in: range)
        for held in missing.missing(in: range).ranges.map({ $0.clamped(to: kept) }) where !held.isEmpty {
            do throws(DownloadError) {
                if try !read(held).elementsEqual(part(held)) { return state.withLock { $0.differs = true } }
            } catch {
                return fail(error)
            }
            let start = held.lowerBound
            let action: (@Sendable () -> Void)? = state.withLock { state in
                guard state.unproven.remove(start) != nil else { return nil }
                state.written.insert(start - 1..<start)
                return state.onWrite
            }
            action?()
        }
        for gap in missing.ranges {
            writeMissing(part(gap), at: gap.lowerBound, waits: waits && gap.upperBound == range.upperBound)
        }
    }

    /// Writes bytes that are missing.
    /// - Parameter waits: Whether the last byte is not marked as written, because the join after it is not proved yet.
    private func writeMissing(_ bytes: UnsafeRawBufferPointer, at offset: Int64, waits: Bool) {
        guard failure == nil else { return }
        var done = 0
        while done < bytes.count {
            let (start, most) = place(of: offset + Int64(done))
            let count = pwrite(
                descriptor, bytes.baseAddress.map { $0 + done }, min(bytes.count - done, most), off_t(start))
            if count < 0 {
                if errno == EINTR { continue }
                return fail(.file(errno, "write", path: path))
            }
            done += count
        }
        enter(offset..<offset + Int64(bytes.count), waits: waits)
    }

    /// Marks a range as written.
    func enter(_ range: Range<Int64>, waits: Bool = false) {
        FaultPoint.reached("afterWrite")
        let action: (@Sendable () -> Void)? = state.withLock { state in
            // A write that was under way during a failed sync may be lost, too.
            if state.lostSync { return nil }
            let end = range.upperBound
            if waits { state.unproven.insert(end) }
            if !range.isEmpty { state.written.insert(range.lowerBound..<(waits ? end - 1 : end)) }
            if !isSpool { state.unsynced += Int64(range.count) }
            return state.onWrite
        }
        action?()
    }

    package func fail(_ error: DownloadError) {
        state.withLock { if $0.failure == nil { $0.failure = error } }
    }

    /// Truncates the file, to begin again. Everything in the file belongs to another version.
    package func startOver() throws(DownloadError) {
        forgetDescription()
        guard ftruncate(descriptor, 0) == 0 else { throw .file(errno, "truncate", path: path) }
        forgetOtherWriters()
        state.withLock { state in
            state.written = ByteRanges()
            state.durable = ByteRanges()
            state.unsynced = 0
            state.differs = false
            state.unproven = []
            state.version += 1
        }
    }

    /// Reserves disk space for the whole file where that is instant. Throws early if there is not enough space.
    package func reserve(
        _ total: Int64, _ preallocate: (Int32, Int64) -> Int32 = dlm_preallocate
    ) throws(DownloadError) {
        let (missing, allocated) = (total - written.count, allocated())
        var info = statvfs()
        if fstatvfs(descriptor, &info) == 0 {
            let available = Int64(clamping: UInt64(info.f_bavail) &* UInt64(info.f_frsize))
            if missing > available + max(0, allocated - written.count) {
                throw .fileFailed(.noSpace(needed: missing - available), path: path)
            }
        }
        var limit = rlimit()
        if getrlimit(Int32(RLIMIT_FSIZE.rawValue), &limit) == 0, UInt64(limit.rlim_cur) < UInt64(total) {
            throw .file(EFBIG, "write", path: path)
        }
        guard total > 1 << 20, allocated < total, !isInMemory, preallocate(descriptor, total) != 0 else { return }
        // XFS wants free space for blocks that the file has already. Then only a write tells whether the disk is full.
        let isFull = [ENOSPC, EDQUOT].contains(errno) && allocated == 0
        if isFull || errno == EFBIG { throw .file(errno, "write", path: path) }
    }

    /// Returns the number of bytes of disk that the file has, by writes or by an earlier reservation.
    private func allocated() -> Int64 {
        var info = stat()
        return fstat(descriptor, &info) == 0 ? Int64(info.st_blocks) * 512 : 0
    }

    // MARK: Syncs and reads

    /// Waits until everything written so far survives a loss of power.
    package func sync() throws(DownloadError) {
        try sync("fdatasync") { fdatasync(descriptor) }
    }

    /// Syncs the bytes of a file that will still grow, and the name of the file the first time.
    package func syncWithName() throws(DownloadError) {
        if !(state.withLock { $0.isNameSynced }) {
            try syncFolder()
            state.withLock { $0.isNameSynced = true }
        }
        try sync()
    }

    package func syncFileSystem() throws(DownloadError) {
        try sync("syncfs") { dlm_syncfs(descriptor) }
    }

    /// Calls `call`, and marks what was written before the call as durable if it returns 0. Writes that other threads
    /// make during the call are not durable yet.
    /// - Parameter name: The name of the system call, for the error.
    func sync(_ name: String, _ call: () -> Int32) throws(DownloadError) {
        let before = state.withLock { $0 }
        FaultPoint.reached("beforeSync")
        guard call() == 0 else {
            let error = DownloadError.file(errno, name, path: path)
            forgetUnsynced(error)
            throw error
        }
        FaultPoint.reached("afterSync")
        state.withLock { state in
            guard state.version == before.version else { return }
            state.durable = before.written
            state.unsynced = max(0, state.unsynced - before.unsynced)
        }
    }

    /// Forgets all bytes that were written since the last successful sync, and takes no more bytes. After a failed sync,
    /// Linux may have dropped these bytes, and the next sync succeeds without them (fsync(2); Rebello and others, "Can
    /// Applications Recover from fsync Failures?", ATC 2020).
    package func forgetUnsynced(_ error: DownloadError) {
        state.withLock { state in
            state.written = state.durable
            state.unproven = []
            state.version += 1
            state.failure = state.failure ?? error
            state.lostSync = true
        }
    }

    /// Whether a sync failed, so that bytes which a checkpoint has recorded may be lost.
    var hasLostSync: Bool { state.withLock { $0.lostSync } }

    /// Returns when the file's bytes last changed, in nanoseconds since 1970. Nil where the file system's times are not
    /// exact.
    package func modified() throws(DownloadError) -> Int64? {
        keepsExactBooks ? try status().modified : nil
    }
}
