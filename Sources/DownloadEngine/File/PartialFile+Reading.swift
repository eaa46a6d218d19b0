import CSystem
import DownloadCore
import Foundation

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
        guard let bytes = FileBytes.read(descriptor, range) else { throw .file(errno, "read", path: path) }
        if bytes.count < range.count { throw .file(EIO, "read", path: path) }
        return bytes
    }
}
