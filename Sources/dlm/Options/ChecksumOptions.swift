import ArgumentParser
import DownloadKit
import Foundation
import Glibc

/// The options for the checksums that files must match, for `get` and `verify`.
struct ChecksumOptions: OptionTable {
    var checksum: String?

    /// The beginnings of checksums that shell completion offers, such as `sha256:`. In zsh an unescaped colon separates
    /// the description, so the colon is escaped.
    private static var beginnings: [String] {
        let colon = CompletionShell.requesting == .zsh ? "\\:" : ":"
        return algorithms.map { $0 + colon }
    }

    private static let algorithms = Checksum.Algorithm.allCases.filter { !$0.isCRC }.map(\.rawValue)

    var checksumFile: String?
    var signedBy: [String] = []

    func validate() throws {
        if let checksum, given == nil, document == nil {
            let known = Self.algorithms.joined(separator: ", ")
            throw ValidationError(
                "--checksum \(checksum): not of the form ALGO:HEX or ALGO:URL with ALGO one of \(known)")
        }
        if checksum != nil, checksumFile != nil {
            throw ValidationError("--checksum and --checksum-file exclude each other; give one")
        }
        if signedBy.contains("") { throw ValidationError("--signed-by: nothing given") }
        if let checksumFile, checksumFile.isEmpty { throw ValidationError("--checksum-file: no file given") }
    }

    var given: Checksum? { checksum.flatMap { Checksum($0) } }

    /// The URL of the document that has the digest, and its algorithm (`ALGO:URL`).
    var document: (algorithm: Checksum.Algorithm, url: String)? {
        guard let checksum, let colon = checksum.firstIndex(of: ":"),
            let algorithm = Checksum.Algorithm(rawValue: String(checksum[..<colon])), !algorithm.isCRC
        else { return nil }
        let url = String(checksum[colon...].dropFirst())
        return ListDownload.isURL(url) ? (algorithm, url) : nil
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &checksum, "checksum", in: .file, .word("algo:hex or url", completion: .list(Self.beginnings)),
            "Require the file to have this digest, such as sha256:HEX. On the command line also sha256:URL, with the "
                + "URL of a document that has the digest.",
            .sets { $0.checksum = Checksum($1) ?? $0.checksum })
        row(
            &checksumFile, "checksum-file", in: .commandLine, .path("file or url"),
            "Look up the digest by file name in this list, such as SHA256SUMS; - is standard input. If you give a "
                + "URL, prefer https: others can change a list that is sent over http.")
        row.show("checksum-file") { $0.checksums?.source }
        row(
            &signedBy, "signed-by", .texts("key", isPath: true, completion: .file()),
            "Require a signature by this key, of the file or of a list beside it that has its digest: a file with keys "
                + "of OpenPGP (FILE#FINGERPRINT for one of them), minisign or signify, or the text RW... of a key of "
                + "minisign. If you repeat the option, one key is enough. Without a good signature, fail with status 9.",
            .sets { $0.signedBy = Self.keys($1) })
        row.show("signed-by", each: \.signedBy)
    }

    /// Returns the keys with the absolute paths of their files.
    static func keys(_ given: [String]) -> [String] {
        given.map { SigningKey.isText($0) ? $0 : FolderPath.file($0) }
    }

    /// Reads the list of checksums. Returns nil if none is given.
    /// - Parameter template: makes the request that fetches the list from a URL.
    func list(
        in context: Context, like template: (SourceURL) throws -> DownloadRequest
    ) async throws -> ChecksumList? {
        guard let place = document?.url ?? checksumFile else { return nil }
        let found = try await ChecksumFile.document(place, largest: ChecksumList.largest, in: context, like: template)
        let list = try ChecksumList(found.bytes, source: found.name)
        return try document.map { try list.only($0.algorithm) } ?? list
    }
}

/// The reading of small files, such as lists of checksums, into memory.
enum ChecksumFile {
    /// The failure to fetch a file, with its URL because the error alone does not name the file.
    struct Failure: Error {
        let url: SourceURL
        let error: DownloadError

        var message: String {
            // The messages of these errors already name the file or URL.
            switch error {
            case .verificationFailed, .requestInvalid: Redaction.describe(error)
            default: "\(url): \(Redaction.describe(error))"
            }
        }
    }

    /// Reads a document.
    /// - Parameters:
    ///   - place: A path, a URL, or `-` for standard input.
    ///   - template: Makes the request for a URL.
    /// - Returns: The bytes, the name for messages, and the URL, if the document has one.
    static func document(
        _ place: String, largest: Int, in context: Context, like template: (SourceURL) throws -> DownloadRequest
    ) async throws -> (bytes: [UInt8], name: String, url: SourceURL?) {
        guard ListDownload.isURL(place) else {
            return (try read(place == "-" ? nil : place, largest: largest), InputList.name(place), nil)
        }
        let (url, credential) = try RequestMaker.address(place).get()
        var request = try template(url)
        if let credential { request.credential = credential }
        do {
            return (try await context.fetch(request, largest, context.environment, context.time), url.string, url)
        } catch let error as DownloadError {
            throw Failure(url: url, error: error)
        }
    }

    /// Reads a file. If the file is too large, returns a little more than `largest` bytes.
    /// - Parameter path: the file; nil for standard input.
    static func read(_ path: String?, largest: Int = ChecksumList.largest) throws(DownloadError) -> [UInt8] {
        let name = path ?? "standard input"
        let descriptor = path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? STDIN_FILENO
        guard descriptor >= 0 else { throw .givenFile(errno, "open", name) }
        defer { if path != nil { close(descriptor) } }
        guard let bytes = FileBytes.read(descriptor, atMost: largest) else { throw .givenFile(errno, "read", name) }
        return bytes
    }
}
