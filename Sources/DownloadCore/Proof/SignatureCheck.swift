import CSystem
import Foundation

/// The search for a good signature of a file (``DownloadRequest/signedBy``): beside the file, and of the lists in the
/// folder that have its digest. Keys are never fetched.
package struct SignatureCheck: Sendable {
    /// Fetches a small document that no redirect leads to.
    package typealias Fetch = @Sendable (SourceURL) async -> Result<[UInt8], DownloadError>

    /// The number of documents that are requested.
    private static let mostRequests = 16

    private let keys: [(asked: String, key: SigningKey)]
    /// The programs gpgv, or else sqv. Nil if no key needs them.
    private let program: OpenPGPProgram?
    private let folder: String
    private let name: (escaped: String, plain: String)
    /// The documents that were requested, by their URLs.
    private var documents: [String: [UInt8]?] = [:]
    /// The documents that prove nothing, and why.
    private var useless: [String] = []

    /// Reads the keys, so that unusable ones are found before the file is fetched.
    package init(for record: DownloadRecord) throws(DownloadError) {
        let request = record.request
        var keys: [(asked: String, key: SigningKey)] = []
        for asked in request.signedBy { keys.append((asked, try SigningKey(asked))) }
        self.keys = keys
        program = keys.contains { $0.key.isOpenPGP } ? try OpenPGPProgram() : nil
        let file = record.resume.finalURL.flatMap { $0.host == request.url.host ? $0 : nil } ?? request.url
        guard file.isHTTP, !file.string.contains("?"), request.describedName == nil, !file.string.hasSuffix("/"),
            let slash = file.string.lastIndex(of: "/"),
            let plain = ChecksumList.path(file).split(separator: "/").last
        else {
            throw .verificationFailed(
                .unverifiable("\(file): signatures are looked up beside http and https URLs without a query only"))
        }
        folder = String(file.string[...slash])
        name = (String(file.string[slash...].dropFirst()), String(plain))
    }

    /// Checks the file at the path. All steps use one open file, so that they check the same bytes.
    /// - Parameter isUnwanted: Returns whether the result is no longer wanted.
    /// - Throws: ``VerificationFailure/unverifiable(_:)`` if there is no good signature.
    package mutating func signature(
        of path: String, on queue: DispatchQueue, time: any TimeSource = SystemTime(),
        unless isUnwanted: @escaping @Sendable () -> Bool = { false }, fetch: Fetch
    ) async throws(DownloadError) -> FileSignature {
        let (descriptor, _) = try FileStatus.openRegular(path)
        defer { close(descriptor) }
        let checker = SignatureChecker(program: program, queue: queue, time: time, isUnwanted: isUnwanted)
        for (asked, key) in keys {
            for ending in key.isOpenPGP ? [".asc", ".sig", ".gpg", ".sign"] : [".minisig", ".sig"] {
                let url = folder + name.escaped + ending
                guard let signature = await document(url, fetch) else { continue }
                switch await checker.finding(signature, over: descriptor, by: key) {
                case .good(let signer): return FileSignature(asked: asked, key: signer, document: url)
                case .bad(let why): useless.append("\(url) \(why)")
                }
            }
            for list in key.isOpenPGP ? Self.lists + ["sha256sums.asc"] : Self.lists + ["SHA256.sig"] {
                guard let signed = await self.list(list, asked, key, checker, fetch) else { continue }
                let path = "/proc/self/fd/\(descriptor)"
                let hash = try await FileHash.of(path, signed.listed.algorithm, on: queue, unless: isUnwanted)
                guard let hash else { throw .cancelled }
                guard hash.digest == signed.listed.digest else {
                    throw .verificationFailed(.serverDigest(expected: signed.listed, actual: hash.digest))
                }
                return signed.signature
            }
        }
        let what = useless.isEmpty ? "none was found" : useless.joined(separator: "; ")
        throw .verificationFailed(
            .unverifiable(
                "no good signature by \(keys.map(\.asked).joined(separator: " or ")), so the file does not get its "
                    + "name; its bytes are kept: \(what)"))
    }

    private static let lists = ["SHA256SUMS", "SHA512SUMS", "CHECKSUM", "sha256sum.txt"]

    /// Returns the digest of the file in a list of this name, if the list has a good signature.
    private mutating func list(
        _ list: String, _ asked: String, _ key: SigningKey, _ checker: SignatureChecker, _ fetch: Fetch
    ) async -> (signature: FileSignature, listed: Checksum)? {
        guard let bytes = await document(folder + list, fetch) else { return nil }
        var (signer, text, place): (String?, [UInt8], String) = (nil, bytes, folder + list)
        if key.isSignedInside(bytes) {
            signer = await self.text(&text, place, key, checker)
        } else {
            for ending in key.isOpenPGP ? [".gpg", ".asc", ".sign", ".sig"] : [".minisig", ".sig"] where signer == nil {
                place = folder + list + ending
                guard let signature = await document(place, fetch) else { continue }
                text = key.isSignedInside(signature) ? signature : bytes
                if key.isSignedInside(signature) {
                    signer = await self.text(&text, place, key, checker)
                } else {
                    let finding = await checker.finding(signature, over: bytes, by: key)
                    signer = signedBy(finding, place)
                }
            }
        }
        guard let signer else { return nil }
        let digest = try? ChecksumList(text, source: list).digest(
            ofExactly: name.plain, [.sha256, .sha512, .sha384], isForOneFile: false)
        guard let digest = digest?.stated(in: place) else {
            useless.append("\(place) is signed, but has no strong digest of \(name.plain)")
            return nil
        }
        return (FileSignature(asked: asked, key: signer, document: place, listed: digest), digest)
    }

    /// Replaces a document that has its signature inside by the signed text. Returns the key that signed it.
    private mutating func text(
        _ text: inout [UInt8], _ place: String, _ key: SigningKey, _ checker: SignatureChecker
    ) async -> String? {
        let (finding, signed) = await checker.text(of: text, by: key)
        text = signed
        return signedBy(finding, place)
    }

    private mutating func signedBy(_ finding: SignatureFinding, _ place: String) -> String? {
        switch finding {
        case .good(let signer): return signer
        case .bad(let why):
            useless.append("\(place) \(why)")
            return nil
        }
    }

    /// Returns a document, which is requested once only.
    private mutating func document(_ place: String, _ fetch: Fetch) async -> [UInt8]? {
        if let known = documents[place] { return known }
        guard documents.count < Self.mostRequests, let url = try? SourceURL.parse(place).get().url else { return nil }
        let answer = await fetch(url)
        documents[place] = .some(try? answer.get())
        switch answer {
        case .success, .failure(.serverRefused(status: 404, _)), .failure(.serverRefused(status: 410, _)): break
        case .failure(let error): useless.append("\(place) did not come: \(error)")
        }
        return try? answer.get()
    }
}

extension SigningKey {
    fileprivate var isOpenPGP: Bool { if case .openPGP = self { true } else { false } }

    /// Whether a document has a signature of the key's kind inside: a clear-signed list, or one that signify -e made.
    fileprivate func isSignedInside(_ bytes: [UInt8]) -> Bool {
        if isOpenPGP {
            return bytes.split(separator: UInt8(ascii: "\n")).contains {
                $0.starts(with: "-----BEGIN PGP SIGNED MESSAGE-----".utf8)
            }
        }
        return Ed25519Signature(bytes).map { !$0.isHashed && !$0.rest.isEmpty } ?? false
    }
}
