import CSystem
import Foundation
import Synchronization

/// `NAME.part` beside the final name: the one file that a download writes to, locked against every other process.
/// Its ranges are the truth that checkpoints record.
package final class PartialFile: Sendable {
    package let folder: String
    /// The final name.
    package let name: String
    package let identity: FileIdentity
    package let device: UInt64
    let descriptor: Int32
    let folderDescriptor: Int32
    package let isInMemory: Bool
    private let keepsExactBooks: Bool

    private struct State {
        var written: ByteRanges
        var durable: ByteRanges
        var unsynced: Int64 = 0
        /// Counts the times that bytes were given up: what was synced before says nothing of what is there now.
        var version = 0
        var failure: DownloadError?
        var differs = false
        var onWrite: (@Sendable () -> Void)?
        var isNameSynced = false
        /// Every run of bytes is compared with the next one before they become one run.
        var provesJoins = false
        /// Where the runs begin whose join with the run before them is not compared yet.
        var unproven: Set<Int64> = []
        /// Of ``WriterWatch``.
        var watch: Int32?
    }

    private let state: Mutex<State>

    private init(folder: String, name: String, folderDescriptor: Int32, descriptor: Int32, status: FileStatus.Info) {
        self.folder = folder
        self.name = name
        self.folderDescriptor = folderDescriptor
        self.descriptor = descriptor
        identity = status.identity
        device = status.device
        isInMemory = dlm_is_memory_file_system(descriptor) != 0
        keepsExactBooks = dlm_keeps_exact_books(descriptor) != 0
        state = Mutex(State(written: ByteRanges(), durable: ByteRanges()))
    }

    deinit {
        endWatch()
        WriterWatch.shared.close(descriptor, identity, device: device)
        Glibc.close(folderDescriptor)
    }

    package var path: String { FileNaming.path(folder, FileNaming.partial(name)) }

    // MARK: Opening

    package enum Mode: Equatable {
        /// It must not exist.
        case create
        /// It exists, and nobody else has it open for a download.
        case reopen
    }

    /// Opens and locks the partial file of `name` in `folder`.
    package static func open(
        folder: String, name: String, mode: Mode, time: any TimeSource = SystemTime()
    ) throws(DownloadError) -> PartialFile {
        let path = FileNaming.path(folder, FileNaming.partial(name))
        // Opened for writing and closed again, it would look written to, to the process that has it.
        if mode == .reopen, !waitUntil(time, { !isLocked(path) }) { throw .fileFailed(.locked, path: path) }
        let folderDescriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folderDescriptor >= 0 else { throw .file(errno, "open", path: folder) }
        let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (mode == .create ? O_CREAT | O_EXCL : 0)
        let descriptor = openat(folderDescriptor, FileNaming.partial(name), flags, 0o666)
        guard descriptor >= 0 else {
            let code = errno
            Glibc.close(folderDescriptor)
            throw code == EEXIST ? .fileFailed(.partialExists, path: path) : .file(code, "open", path: path)
        }
        guard let status = FileStatus.of(descriptor: descriptor), status.isRegular else {
            Glibc.close(descriptor)
            Glibc.close(folderDescriptor)
            throw .fileFailed(.replaced, path: path)
        }
        let file = PartialFile(
            folder: folder, name: name, folderDescriptor: folderDescriptor, descriptor: descriptor, status: status)
        guard waitUntil(time, { dlm_lock_exclusive(descriptor) == 0 }) else {
            throw .fileFailed(.locked, path: path)
        }
        return file
    }

    /// Whether somebody writes to it: takes the lock for a moment, which `waitUntil` allows for.
    package static func isLocked(_ path: String) -> Bool {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        return dlm_lock_exclusive(descriptor) != 0
    }

    /// Why the name cannot be had. Who makes a file locks it a moment later, so that one look would not do.
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

    /// Lets others have it, whoever still holds this object: nothing is written from now on.
    package func unlock() {
        endWatch()
        dlm_unlock(descriptor)
    }

    // MARK: Other programs

    /// From now on it is noticed when another program writes to it. Not for a file that is done at once.
    package func watchWriters() {
        state.withLock { state in
            if state.watch == nil { state.watch = WriterWatch.shared.begin(descriptor, identity, device: device) }
        }
    }

    /// As far as that can be noticed (see ``WriterWatch``).
    package var isWrittenByOthers: Bool {
        state.withLock { $0.watch }.map { WriterWatch.shared.isWritten($0) } ?? false
    }

    /// Everything is written, or hashed, anew.
    package func forgetOtherWriters() {
        if let watch = state.withLock({ $0.watch }) { WriterWatch.shared.forget(watch) }
    }

    private func endWatch() {
        if let watch = state.withLock({ $0.watch.take() }) { WriterWatch.shared.end(watch) }
    }

    /// The length on disk.
    package func length() throws(DownloadError) -> Int64 {
        guard let status = FileStatus.of(descriptor: descriptor) else { throw .file(errno, "stat", path: path) }
        return status.size
    }

    // MARK: Ranges

    package var written: ByteRanges { state.withLock { $0.written } }
    package var durable: ByteRanges { state.withLock { $0.durable } }
    package var failure: DownloadError? { state.withLock { $0.failure } }
    /// Bytes came again, and they are not those that are here.
    package var differs: Bool { state.withLock { $0.differs } }
    /// Nothing is written any more.
    package var refusesWrites: Bool { state.withLock { $0.failure != nil || $0.differs } }
    /// Bytes written since the last ``sync()``.
    package var unsynced: Int64 { state.withLock { $0.unsynced } }

    /// Whether joins are proved from now on (see ``write(_:at:)``): only where transfers fetch bytes of each neighbour again.
    package func proveJoins(_ proves: Bool) {
        state.withLock { state in
            state.provesJoins = proves
            if !proves { state.unproven = [] }
        }
    }

    /// The difference that was found is dealt with: the bytes on one side of it are forgotten, or all come again.
    package func forgetDifference() { state.withLock { $0.differs = false } }

    /// Believes that these ranges hold what they should, as a checkpoint says.
    package func trust(written: ByteRanges, durable: ByteRanges) {
        state.withLock { state in
            state.written = written
            state.durable = durable
        }
    }

    /// Called on the writer's thread after every write.
    package func notifyWrites(_ action: (@Sendable () -> Void)?) {
        state.withLock { $0.onWrite = action }
    }

    /// These bytes are doubtful, or another program took them away.
    package func forget(_ ranges: ByteRanges) {
        if ranges.isEmpty { return }
        state.withLock { state in
            for range in ranges.ranges {
                state.written.remove(range)
                state.durable.remove(range)
            }
            state.version += 1
        }
    }

    // MARK: The writer's thread

    /// Writes what is not here yet and enters it as written; what is here already must be the same. The first failure,
    /// or difference, stays, and later writes do nothing.
    ///
    /// After ``proveJoins(_:)``, bytes that end where others begin are entered but for the last one. That byte is entered
    /// once some of the bytes behind it came again and were the same: two runs of `written` never touch unproved.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
        let range = offset..<offset + Int64(bytes.count)
        guard !refusesWrites else { return }
        let (written, provesJoins) = state.withLock { ($0.written, $0.provesJoins) }
        let waits = provesJoins && written.contains(range.upperBound..<range.upperBound + 1)
        guard written.overlaps(range) else { return writeMissing(bytes, at: offset, waits: waits) }
        func part(_ range: Range<Int64>) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[Int(range.lowerBound - offset)..<Int(range.upperBound - offset)])
        }
        let missing = written.missing(in: range)
        for held in missing.missing(in: range).ranges {
            do throws(DownloadError) {
                if try !read(held).elementsEqual(part(held)) { return state.withLock { $0.differs = true } }
            } catch {
                return fail(error)
            }
            state.withLock { state in
                let start = held.lowerBound
                if state.unproven.remove(start) != nil { state.written.insert(start - 1..<start) }
            }
        }
        for gap in missing.ranges {
            writeMissing(part(gap), at: gap.lowerBound, waits: waits && gap.upperBound == range.upperBound)
        }
    }

    /// - Parameter waits: the last byte is not entered: the join behind it is not proved yet.
    private func writeMissing(_ bytes: UnsafeRawBufferPointer, at offset: Int64, waits: Bool) {
        guard failure == nil else { return }
        var done = 0
        while done < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + done)
            if count < 0 {
                if errno == EINTR { continue }
                return fail(.file(errno, "write", path: path))
            }
            done += count
        }
        enter(offset..<offset + Int64(bytes.count), waits: waits)
    }

    /// These bytes were written.
    func enter(_ range: Range<Int64>, waits: Bool = false) {
        FaultPoint.reached("afterWrite")
        let action = state.withLock { state in
            let end = range.upperBound
            if waits { state.unproven.insert(end) }
            if !range.isEmpty { state.written.insert(range.lowerBound..<(waits ? end - 1 : end)) }
            state.unsynced += Int64(range.count)
            return state.onWrite
        }
        action?()
    }

    package func fail(_ error: DownloadError) {
        state.withLock { if $0.failure == nil { $0.failure = error } }
    }

    /// Everything there was is of another version: begin anew in the same file.
    package func startOver() throws(DownloadError) {
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

    /// Makes room for the whole file, where that is instant, and fails early when there is none.
    package func reserve(_ total: Int64) throws(DownloadError) {
        let missing = total - written.count
        var info = statvfs()
        if fstatvfs(descriptor, &info) == 0 {
            let available = Int64(clamping: UInt64(info.f_bavail) &* UInt64(info.f_frsize))
            if missing > available + allocated() {
                throw .fileFailed(.noSpace(needed: missing - available), path: path)
            }
        }
        var limit = rlimit()
        if getrlimit(Int32(RLIMIT_FSIZE.rawValue), &limit) == 0, UInt64(limit.rlim_cur) < UInt64(total) {
            throw .file(EFBIG, "write", path: path)
        }
        guard total > 1 << 20, !isInMemory else { return }
        if dlm_preallocate(descriptor, total) != 0, [ENOSPC, EDQUOT, EFBIG].contains(errno) {
            throw .file(errno, "write", path: path)
        }
    }

    /// Bytes of the disk this file already holds beyond what is written: an earlier reservation.
    private func allocated() -> Int64 {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return 0 }
        return max(0, Int64(info.st_blocks) * 512 - written.count)
    }

    // MARK: The sync thread

    /// Waits until what is written now survives a loss of power.
    package func sync() throws(DownloadError) {
        try sync("fdatasync") { fdatasync(descriptor) }
    }

    /// The same for a file that is to grow, with its name the first time.
    package func syncWithName() throws(DownloadError) {
        if !(state.withLock { $0.isNameSynced }) {
            try syncFolder()
            state.withLock { $0.isNameSynced = true }
        }
        try sync()
    }

    /// The same for everything on its file system.
    package func syncFileSystem() throws(DownloadError) {
        try sync("syncfs") { dlm_syncfs(descriptor) }
    }

    /// Makes what was written before `call` durable, once `call` has returned 0. What happens to the file meanwhile, on
    /// other threads, is not durable yet.
    /// - Parameter name: the name of the system call, for the error.
    func sync(_ name: String, _ call: () -> Int32) throws(DownloadError) {
        let before = state.withLock { $0 }
        FaultPoint.reached("beforeSync")
        guard call() == 0 else { throw .file(errno, name, path: path) }
        FaultPoint.reached("afterSync")
        state.withLock { state in
            guard state.version == before.version else { return }
            state.durable = before.written
            state.unsynced = max(0, state.unsynced - before.unsynced)
        }
    }

    /// When its bytes last changed, in nanoseconds since 1970; nil where the file system does not tell exactly.
    package func modified() throws(DownloadError) -> Int64? {
        guard keepsExactBooks else { return nil }
        guard let status = FileStatus.of(descriptor: descriptor) else { throw .file(errno, "stat", path: path) }
        return status.modified
    }

    /// Bytes below `total` that another program cut off, whatever was written behind them since, as far as the file
    /// system can tell; with a margin, for a page is cut in part and ends in zeros.
    package func cutOff(before total: Int64, margin: Int64 = cutMargin) throws(DownloadError) -> ByteRanges {
        let length = try length()
        var lost = ByteRanges()
        if length < total { lost.insert(max(0, length - margin)..<total) }
        var position: Int64 = 0
        while keepsExactBooks, position < min(length, total) {
            let hole = dlm_next_hole(descriptor, position)
            guard hole >= 0, hole < min(length, total) else { break }
            let data = dlm_next_data(descriptor, hole)
            position = data > hole ? data : total
            lost.insert(max(0, hole - margin)..<min(total, position + margin))
        }
        return lost
    }

    /// At least a block of any file system.
    package static let cutMargin: Int64 = 64 << 10

    /// Reads bytes that are written already.
    package func read(_ range: Range<Int64>) throws(DownloadError) -> [UInt8] {
        var failure: DownloadError?
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            let wanted = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<range.count])
            do throws(DownloadError) {
                try read(into: wanted, at: range.lowerBound)
                count = wanted.count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// The same into memory that is there, all of it.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DownloadError) {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + done)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { throw .file(count < 0 ? errno : EIO, "read", path: path) }
            done += count
        }
    }
}
