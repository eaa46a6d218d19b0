import CSystem
import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// Reading of bytes that are in the partial file already.
extension PartialFile {
    /// Returns the ranges below `total` for which the file system has no data: the part after the end of the file, and
    /// the holes inside the file. Holes are found only on file systems that record them exactly. If dlm has written
    /// there, another program has truncated the file, and later writes may have made the file long again. Each range is
    /// extended by a margin, because a page that is cut in part is filled with zeros.
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

    /// The margin in bytes. It is at least one block of any file system.
    package static let cutMargin: Int64 = 64 << 10

    package func read(_ range: Range<Int64>) throws(DownloadError) -> [UInt8] {
        let (start, most) = place(of: range.lowerBound)
        guard range.count <= most else {
            let middle = range.lowerBound + Int64(most)
            return try read(range.lowerBound..<middle) + read(middle..<range.upperBound)
        }
        guard let bytes = FileBytes.read(descriptor, start..<start + Int64(range.count)) else {
            throw .file(errno, "read", path: path)
        }
        if bytes.count < range.count { throw .file(EIO, "read", path: path) }
        return bytes
    }
}

/// The watch for other programs that write to the file.
extension PartialFile {
    /// Begins to watch for other programs that write to the file. A file that is finished at once is not worth a watch.
    package func watchWriters() {
        state.withLock { state in
            if state.watch == nil { state.watch = WriterWatch.shared.begin(descriptor, identity, device: device) }
        }
    }

    /// Whether another program has written to the file, as far as ``WriterWatch`` can notice.
    package var isWrittenByOthers: Bool {
        state.withLock { $0.watch }.map { WriterWatch.shared.isWritten($0) } ?? false
    }

    /// Forgets other programs' writes. Called when everything is written or hashed again.
    package func forgetOtherWriters() {
        if let watch = state.withLock({ $0.watch }) { WriterWatch.shared.forget(watch) }
    }

    func endWatch() {
        if let watch = state.withLock({ $0.watch.take() }) { WriterWatch.shared.end(watch) }
    }
}

/// The spool of a stream: a partial file without a name and of a fixed size, out of which the bytes are taken in order.
/// New bytes take the places of the bytes that were taken.
extension PartialFile {
    /// The part of a spool in bytes that takes no bytes ahead. It keeps the last bytes that were taken, so that bytes
    /// which come again can be compared, and takes the buffer of a probe that begins at the end of the room.
    static let spoolMargin: Int64 = 512 << 10
    /// The size in bytes up to which a spool is in memory.
    private static let memorySpool: Int64 = 64 << 20
    static let takenBack = DownloadError.verificationFailed(
        .streamBroken("bytes that may not belong to the file were already written"))

    var isSpool: Bool { ring != .max }
    /// Whether bytes could not be written or read.
    var hasFailedDisk: Bool { if case .fileFailed? = failure { true } else { false } }

    package var limit: Int64 { room.load(ordering: .acquiring) }

    /// Makes a spool in the first of the folders that has the space, or in memory if it is small or no folder has. The
    /// file disappears with the process (open(2), O_TMPFILE; memfd_create(2)). Returns nil if even memory takes none.
    static func spool(of size: Int64, in folders: [String]) -> PartialFile? {
        for folder in size > memorySpool ? folders : [] {
            let opened = dlm_open_folder(folder)
            defer { Glibc.close(opened) }
            let file = spool(dlm_open_unnamed(opened), of: size, in: folder)
            if let file, (try? file.reserve(size)) != nil { return file }
        }
        return spool(dlm_memory_file("", 0), of: min(size, memorySpool), in: "memory")
    }

    private static func spool(_ descriptor: Int32, of size: Int64, in folder: String) -> PartialFile? {
        guard descriptor >= 0 else { return nil }
        guard let status = FileStatus.of(descriptor: descriptor) else {
            Glibc.close(descriptor)
            return nil
        }
        return PartialFile(
            folder: folder, name: "dlm-spool", folderDescriptor: -1, descriptor: descriptor, status: status, ring: size)
    }

    /// The bytes that are in the file, as far as they are written. A spool also has the place of these bytes only.
    var kept: Range<Int64> {
        guard isSpool else { return 0..<Int64.max }
        let end = limit + Self.spoolMargin - StreamOutput.tailSize
        return max(0, end - ring)..<end
    }

    /// Returns the offset in the file of a byte of the download, and the number of bytes that follow it there.
    func place(of offset: Int64) -> (place: Int64, most: Int) {
        (offset % ring, Int(clamping: ring - offset % ring))
    }

    /// Whether the reader must take bytes out of a spool before it is worth while to request the first missing byte.
    var isFull: Bool { StreamWindow(size: ring, end: limit).isFull(from: written.prefix) }

    /// Whether all bytes that a spool can give were taken.
    var isDrained: Bool { state.withLock { $0.taken >= $0.written.prefix } }

    /// Gives up the bytes of a spool that were not taken.
    func forgetUntaken() {
        state.withLock { state in
            state.written.remove(state.taken..<Int64.max)
            state.version += 1
        }
    }

    /// Takes the next bytes out of a spool, up to the first gap. Called by one thread at a time.
    /// - Returns: The range of the bytes; nil if there are none.
    func take(into buffer: UnsafeMutableRawBufferPointer) throws(DownloadError) -> Range<Int64>? {
        let range = state.withLock { state in
            let start = state.taken
            let end = min(state.written.prefix, start + Int64(min(buffer.count, place(of: start).most)))
            state.taken = max(start, end)
            return start..<max(start, end)
        }
        if range.isEmpty { return nil }
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(range.count))
        guard FileBytes.read(descriptor, into: part, at: place(of: range.lowerBound).place) == range.count else {
            state.withLock { $0.taken = range.lowerBound }
            throw .file(EIO, "read", path: path)
        }
        room.store(range.upperBound + ring - Self.spoolMargin, ordering: .releasing)
        return range
    }
}
