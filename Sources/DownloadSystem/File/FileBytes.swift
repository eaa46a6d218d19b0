import Glibc

/// Whole reads and writes of open files. A call that a signal has interrupted is repeated.
package enum FileBytes {
    /// Reads to the end of the file. Of a larger file than `limit`, returns a little more than `limit` bytes.
    /// - Returns: Nil, with `errno` set, if the file cannot be read.
    package static func read(_ descriptor: Int32, atMost limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count <= limit {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            bytes += piece[..<count]
        }
        return bytes
    }

    /// Reads a range of the file. Returns fewer bytes where the file ends.
    /// - Returns: Nil, with `errno` set, if the file cannot be read.
    package static func read(_ descriptor: Int32, _ range: Range<Int64>) -> [UInt8]? {
        var isRead = true
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            let buffer = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<range.count])
            let done = read(descriptor, into: buffer, at: range.lowerBound)
            isRead = done != nil
            count = done ?? 0
        }
        return isRead ? bytes : nil
    }

    /// Fills the buffer. Returns the number of bytes, which is smaller where the file ends.
    /// - Returns: Nil, with `errno` set, if the file cannot be read.
    package static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int?
    {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + done)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return nil }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Makes a file that other users may not read, in place of any file at the path.
    /// - Parameters:
    ///   - durably: Whether the text survives a loss of power.
    ///   - end: The last step, such as the rename to the final name. If it returns false, the file is removed.
    /// - Returns: False, with `errno` set, if a step failed.
    package static func make(
        _ path: String, with text: String, durably: Bool = false, then end: () -> Bool = { true }
    ) -> Bool {
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let isMade =
            Array(text.utf8).withUnsafeBytes { write($0, to: descriptor) } && fchmod(descriptor, 0o600) == 0
            && (!durably || fsync(descriptor) == 0) && end()
        let code = errno
        close(descriptor)
        if !isMade { unlink(path) }
        errno = code
        return isMade
    }

    /// Writes all bytes. If another process has made the descriptor non-blocking, waits until it takes more bytes.
    /// - Returns: False, with `errno` set, if not all bytes could be written.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count >= 0 {
                done += count
            } else if errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
