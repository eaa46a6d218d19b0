import CSystem
import DownloadCore
import Foundation

/// A signature of minisign or signify: two lines with the signature, and what follows.
package struct Ed25519Signature: Sendable, Equatable {
    private let number: [UInt8]
    private let signature: [UInt8]
    /// Whether the BLAKE2b-512 digest of the bytes is signed instead of the bytes.
    package let isHashed: Bool
    /// The bytes after the signature: the signed bytes (signify -e), or the lines with the trusted comment (minisign).
    package let rest: [UInt8]

    package init?(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count == 3, lines[0].starts(with: "untrusted comment:".utf8),
            let data = Self.decoded(lines[1], 74), data.starts(with: "Ed".utf8) || data.starts(with: "ED".utf8)
        else { return nil }
        (number, signature) = (Array(data[2..<10]), Array(data[10...]))
        isHashed = data[1] == UInt8(ascii: "D")
        rest = Array(lines[2])
    }

    private static func decoded(_ line: some BidirectionalCollection<UInt8>, _ count: Int) -> [UInt8]? {
        let text = line.last == UInt8(ascii: "\r") ? Data(line.dropLast()) : Data(line)
        return Data(base64Encoded: text).flatMap { $0.count == count ? Array($0) : nil }
    }

    /// Returns why the signature cannot be one by the key, before the file is read; nil if it can.
    package func problem(number known: [UInt8], isMinisign: Bool) -> SignatureFinding? {
        guard number == known else { return .bad("was made by another key, \(number.reversed().hexadecimal)") }
        // Nothing in a signature of minisign says whether it is of a file, of its digest or of the trusted comment.
        guard isHashed == isMinisign else {
            return .bad(isMinisign ? "was made without a digest (minisign -l)" : "is no signature of signify")
        }
        return nil
    }

    /// Checks a signature without a ``problem(number:isMinisign:)``.
    /// - Parameter message: The signed bytes, or their digest if ``isHashed`` is true.
    package func finding(over message: [UInt8], key: [UInt8]) -> SignatureFinding {
        guard Self.fits(key, signature, message) else { return .bad("is a signature of other bytes") }
        if isHashed, !isCommentTrue(key) { return .bad("has a trusted comment that was changed") }
        return .good([Signer(key: number.reversed().hexadecimal, time: isHashed ? time : nil)])
    }

    /// Whether the second signature of minisign fits. It covers the first signature and the trusted comment.
    private func isCommentTrue(_ key: [UInt8]) -> Bool {
        let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let mark = "trusted comment: ".utf8
        guard lines.count >= 2, lines[0].starts(with: mark), let second = Self.decoded(lines[1], 64) else {
            return false
        }
        let comment = lines[0].dropFirst(mark.count)
        return Self.fits(key, second, signature + (comment.last == UInt8(ascii: "\r") ? comment.dropLast() : comment))
    }

    /// The time in the trusted comment, which minisign writes as `timestamp:SECONDS` unless it is told otherwise.
    private var time: Date? {
        let comment = rest.prefix { $0 != UInt8(ascii: "\n") }.split { $0.isBlank || $0 == UInt8(ascii: ":") }
        guard let mark = comment.firstIndex(where: { $0.elementsEqual("timestamp".utf8) }) else { return nil }
        return comment[mark...].dropFirst().first.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
            .map { Date(timeIntervalSince1970: Double($0)) }
    }

    private static func fits(_ key: [UInt8], _ signature: [UInt8], _ message: [UInt8]) -> Bool {
        dlm_ed25519_fits(key, signature, message, message.count) == 1
    }
}
