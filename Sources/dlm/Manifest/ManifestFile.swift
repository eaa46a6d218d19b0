import CSystem
import DownloadKit
import Foundation
import Glibc

/// A manifest that is read line by line, or at a known offset.
final class ManifestFile: Sendable {
    let path: String
    private let descriptor: Int32

    /// The greatest length of a line, in bytes. Without a limit, a file that is no manifest could fill the memory.
    private static let longest = 1 << 20

    init(_ path: String) throws(DownloadError) {
        self.path = path
        descriptor = try FileStatus.openRegular(path).descriptor
    }

    deinit { close(descriptor) }

    /// Calls `body` with each line without its break, and its offset. A last line without a break is left out.
    func forEachLine(_ body: (_ offset: Int64, _ line: ArraySlice<UInt8>) throws -> Void) throws {
        var rest: [UInt8] = []
        var start: Int64 = 0
        var position: Int64 = 0
        while true {
            let bytes = try read(at: position, count: Self.longest)
            if bytes.isEmpty { return }
            position += Int64(bytes.count)
            rest += bytes
            var begin = rest.startIndex
            while let end = rest[begin...].firstIndex(of: UInt8(ascii: "\n")) {
                try body(start, rest[begin..<end])
                start += Int64(end + 1 - begin)
                begin = end + 1
            }
            rest.removeFirst(begin)
            guard rest.count <= Self.longest else {
                throw DownloadError.noManifest(path, "a line is longer than 1 MiB")
            }
        }
    }

    func entry(at offset: Int64) throws -> ManifestEntry {
        var count = 4 << 10
        while true {
            let bytes = try read(at: offset, count: count)
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return try ManifestEntry(line: bytes[..<end]) }
            guard bytes.count == count, count < Self.longest else {
                throw DownloadError.noManifest(path, "the line at byte \(offset) has no end")
            }
            count *= 4
        }
    }

    private func read(at offset: Int64, count: Int) throws(DownloadError) -> [UInt8] {
        guard let bytes = FileBytes.read(descriptor, offset..<offset + Int64(count)) else {
            throw .fileFailed(.system(operation: "read", errno: errno), path: path)
        }
        return bytes
    }

    /// Returns the URL of a line without decoding all of its JSON, or nil if the line is not an entry.
    static func url(of line: ArraySlice<UInt8>) -> String? { text("\"url\":\"", in: line) ?? decoded(line)?.url }

    static func isDone(_ line: ArraySlice<UInt8>) -> Bool {
        (text("\"status\":\"", in: line) ?? decoded(line)?.status.rawValue) == ManifestEntry.Status.done.rawValue
    }

    private static func decoded(_ line: ArraySlice<UInt8>) -> ManifestEntry? { try? ManifestEntry(line: line) }

    /// Returns the text after a key, which cannot occur within a JSON string, because quotes are escaped there.
    private static func text(_ key: StaticString, in line: ArraySlice<UInt8>) -> String? {
        guard line.first == UInt8(ascii: "{"), line.last == UInt8(ascii: "}") else { return nil }
        return line.withUnsafeBytes { bytes in
            let found = dlm_find(bytes.baseAddress!, bytes.count, key.utf8Start, key.utf8CodeUnitCount)
            guard found >= 0 else { return nil }
            let value = bytes[(Int(found) + key.utf8CodeUnitCount)...]
            guard let end = value.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }),
                value[end] == UInt8(ascii: "\"")
            else { return nil }
            return String(validating: value[..<end], as: UTF8.self)
        }
    }
}

extension DownloadError {
    static func noManifest(_ path: String, _ why: String) -> DownloadError {
        .verificationFailed(.unverifiable("\(path): is not a manifest of dlm: \(why)"))
    }
}
