import CSystem
import Glibc

/// A file of this machine that is copied.
package final class LocalSource: Sendable {
    package let path: String
    package let status: FileStatus.Info
    private let descriptor: Int32

    /// Follows links, as the system does; a pipe or a device is refused before anything is read of it.
    package init(_ path: String) throws(DownloadError) {
        self.path = path
        descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            throw .fileFailed(code == EACCES ? .permissionDenied : .system(operation: "open", errno: code), path: path)
        }
        guard let status = FileStatus.of(descriptor: descriptor), status.isRegular else {
            close(descriptor)
            throw .fileFailed(.notRegular, path: path)
        }
        self.status = status
    }

    deinit { close(descriptor) }

    /// What tells this version from others.
    package var tag: EntityTag? {
        EntityTag(fieldValue: "W/\"\(status.device)-\(status.identity.inode)-\(status.size)-\(status.modified)\"")
    }

    /// Somebody wrote to it since it was opened.
    package var hasChanged: Bool {
        guard let now = FileStatus.of(descriptor: descriptor) else { return true }
        return now.size != status.size || now.modified != status.modified
    }

    package enum Step: Equatable, Sendable {
        case copied(Int64)
        /// The kernel copies between these two files no more than this.
        case unable
        case failed(errno: Int32)
    }

    /// Has the kernel copy a part of it to the same place in another file; short at a hole, whose zeros are to be written.
    package func copy(_ range: Range<Int64>, to other: Int32) -> Step {
        var end = range.upperBound
        // A hole copied is a hole, which looks like what somebody cut out.
        let hole = dlm_next_hole(descriptor, range.lowerBound)
        if hole == range.lowerBound { return .unable }
        if hole > 0 { end = min(end, hole) }
        let count = dlm_copy_range(descriptor, other, range.lowerBound, Int(end - range.lowerBound))
        if count >= 0 { return .copied(count) }
        return [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EBADF].contains(errno) ? .unable : .failed(errno: errno)
    }

    /// Reads a part; shorter than asked where the file ends.
    package func read(_ range: Range<Int64>) throws(DownloadError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            while count < range.count {
                let done = pread(
                    descriptor, buffer.baseAddress.map { $0 + count }, range.count - count,
                    off_t(range.lowerBound) + count)
                if done < 0, errno == EINTR { continue }
                if done < 0 { code = errno }
                if done <= 0 { return }
                count += done
            }
        }
        if code != 0 { throw .fileFailed(.system(operation: "read", errno: code), path: path) }
        return bytes
    }
}

extension PartialFile {
    /// Copies a part of the source to the same place, and enters it as written. On the writer's thread.
    /// - Returns: how much; 0 at the end of the source, or after a failure.
    package func copy(_ range: Range<Int64>, from source: LocalSource) throws(DownloadError) -> Int64 {
        if refusesWrites { return 0 }
        if written.overlaps(range) { return try write(range, from: source) }
        switch source.copy(range, to: descriptor) {
        case .copied(let count):
            if count > 0 { enter(range.lowerBound..<range.lowerBound + count) }
            return count
        case .unable: return try write(range, from: source)
        case .failed(EINTR): return try copy(range, from: source)
        case .failed(let code):
            fail(.file(code, "copy", path: path))
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
