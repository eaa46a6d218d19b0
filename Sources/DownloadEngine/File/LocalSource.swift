import CSystem
import DownloadCore
import DownloadSystem
import Glibc

/// A file on this machine that is the source of a download.
package final class LocalSource: Sendable {
    package let path: String
    package let status: FileStatus.Info
    fileprivate let descriptor: Int32

    /// Opens the file. Symbolic links are followed. A pipe or a device is refused before any byte of it is read.
    package init(_ path: String) throws(DownloadError) {
        self.path = path
        (descriptor, status) = try FileStatus.openRegular(path)
    }

    deinit { close(descriptor) }

    /// A weak entity tag that distinguishes this version of the file from others.
    package var tag: EntityTag? {
        EntityTag(fieldValue: "W/\"\(status.device)-\(status.identity.inode)-\(status.size)-\(status.modified)\"")
    }

    /// Whether the file was changed since it was opened. Also true if its status cannot be read.
    package var hasChanged: Bool {
        guard let now = FileStatus.of(descriptor: descriptor) else { return true }
        return now.size != status.size || now.modified != status.modified
    }

    /// Reads a part of the file. Returns fewer bytes than the range has if the file ends before.
    package func read(_ range: Range<Int64>) throws(DownloadError) -> [UInt8] {
        guard let bytes = FileBytes.read(descriptor, range) else {
            throw .fileFailed(.system(operation: "read", errno: errno), path: path)
        }
        return bytes
    }
}

extension PartialFile {
    /// Copies a part of the source to the same offset, and marks the bytes as written. Called on the thread of the
    /// write queue. A failed write, or a failed copy by the kernel, is recorded in ``failure``. If the kernel cannot
    /// copy, the bytes are read and written, and a failed read is thrown.
    /// - Returns: The number of bytes that were read. 0 at the end of the source, after a failed copy by the kernel, or
    ///   if the file refuses writes.
    package func copy(_ range: Range<Int64>, from source: LocalSource) throws(DownloadError) -> Int64 {
        if refusesWrites { return 0 }
        // The kernel copies a hole as a hole. In the partial file, a hole looks like bytes that another program cut off
        // (``cutOff(before:margin:)``), so the zeros of a hole are written.
        let hole = dlm_next_hole(source.descriptor, range.lowerBound)
        if written.overlaps(range) || hole == range.lowerBound { return try write(range, from: source) }
        let end = hole > 0 ? min(range.upperBound, hole) : range.upperBound
        let count = dlm_copy_range(source.descriptor, descriptor, range.lowerBound, Int(end - range.lowerBound))
        if count >= 0 {
            if count > 0 { enter(range.lowerBound..<range.lowerBound + count) }
            return count
        }
        switch errno {
        case EINTR: return try copy(range, from: source)
        case EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EBADF: return try write(range, from: source)
        default:
            fail(.file(errno, "copy", path: path))
            return 0
        }
    }

    private func write(_ range: Range<Int64>, from source: LocalSource) throws(DownloadError) -> Int64 {
        let part = range.lowerBound..<min(range.upperBound, range.lowerBound + 1 << 20)
        let bytes = try source.read(part)
        bytes.withUnsafeBytes { write($0, at: part.lowerBound) }
        return Int64(bytes.count)
    }
}
