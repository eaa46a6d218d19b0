import CSystem
import DownloadCore
import Foundation

/// The search for a good signature of a file (``DownloadRequest/signedBy``): beside the file, and of the lists in the
/// folder that have its digest. Keys are never fetched.
package struct SignatureCheck: Sendable {
    /// Fetches a small document.
    package typealias Fetch = @Sendable (SourceURL) async -> Result<[UInt8], DownloadError>

    /// Decides about the signers with what a store knows about the folder, and records what is new.
    package typealias Judge =
        @Sendable (
            _ folder: String, _ verdict: @escaping @Sendable (SignerKnowledge?) -> SignerKnowledge.Verdict
        ) async -> SignerKnowledge.Verdict

    /// How ``Checksum/field`` begins for the digest in a signed list.
    package static let signedList = "the signed list "
    /// The number of documents that are requested.
    private static let mostRequests = 16

    package let keys: [GivenKey]
    private let memory: SignatureMemory
    /// Nil if no key needs the program.
    private let program: OpenPGPProgram?
    private let served: ServedFile
    /// The documents that were requested, by their names.
    private var documents: [String: [UInt8]?] = [:]
    /// The documents that prove nothing, and why.
    private var useless: [String] = []
    /// A failure after which a document may come later.
    private var transient: DownloadError?
    /// Whether the search ended because of ``mostRequests``.
    private var isCutShort = false
    /// Why a document with a good signature does not count.
    private var refused: DownloadError?
    private let rules: SignerKnowledge.Rules

    /// Reads the keys, so that unusable ones are found before the file is fetched.
    package init(
        for record: DownloadRecord, _ memory: SignatureMemory = SignatureMemory()
    ) throws(DownloadError) {
        let request = record.request
        var keys: [GivenKey] = []
        for asked in request.signedBy { keys.append(try memory.key(asked)) }
        (self.keys, self.memory) = (keys, memory)
        rules = SignerKnowledge.Rules(request, isKeyChosen: keys.count == 1 && !keys[0].key.isRing)
        program = keys.contains { $0.key.isOpenPGP } ? try OpenPGPProgram() : nil
        // A redirect must not choose which entry of a list counts.
        let name = ServedFile.name(of: request.url)
        let place = record.resume.finalURL.flatMap { final in
            let isNamedSo = !final.string.contains("?") && ServedFile.name(of: final) == name
            return isNamedSo && final.hasOrigin(of: request.url) ? final : nil
        }
        guard request.describedName == nil, let file = ServedFile(place ?? request.url) else {
            throw .verificationFailed(
                .unverifiable(
                    "\(request.url): signatures are looked up beside http and https URLs without a query only"))
        }
        served = file
    }

    /// Checks the file at the path. All steps use one open file, so that they check the same bytes.
    /// - Parameter isUnwanted: Returns whether the result is no longer wanted.
    /// - Throws: ``VerificationFailure/unverifiable(_:)`` if there is no good signature.
    package mutating func signature(
        of path: String, on queue: DispatchQueue, time: any TimeSource = SystemTime(),
        unless isUnwanted: @escaping @Sendable () -> Bool = { false }, judge: Judge, fetch: Fetch
    ) async throws(DownloadError) -> FileSignature {
        let (file, _) = try FileStatus.openRegular(path)
        defer { close(file) }
        let checker = SignatureChecker(program: program, queue: queue, time: time, isUnwanted: isUnwanted)
        for key in keys {
            let likely = memory.document(in: served.folder, by: key)
            for place in key.key.places(of: served.escapedName, likely: likely) {
                guard let found = await signed(at: place, by: key, file, checker, fetch) else { continue }
                let url = served.folder + place.signature
                let digest = place.list.flatMap { self.digest(in: found.text, $0, url) }
                if place.list != nil, digest == nil {
                    useless.append("\(url) is signed, but has no strong digest of \(served.name)")
                    continue
                }
                // Before the file is hashed, so that its bytes are kept if an old list has another digest.
                let verdict = await judge(served.folder) { [rules, now = time.date] known in
                    SignerKnowledge.verdict(
                        on: found.signers, of: url, isList: digest != nil, rules, known: known, at: now)
                }
                guard case .success(let accepted) = verdict else {
                    if case .failure(let error) = verdict { refused = refused ?? error }
                    continue
                }
                var signature = FileSignature(
                    asked: key.asked, key: accepted.signer.key, keyDigest: key.digest, document: url)
                guard let digest else { return signature }
                let hash = try await FileHash.of(
                    "/proc/self/fd/\(file)", digest.algorithm, on: queue, unless: isUnwanted)
                guard let hash else { throw .cancelled }
                guard hash.digest == digest.digest else {
                    throw .verificationFailed(.serverDigest(expected: digest, actual: hash.digest))
                }
                signature.listed = digest
                memory.learn(place.signature, in: served.folder, by: key)
                return signature
            }
        }
        if let error = transient ?? refused { throw error }
        var what = useless.isEmpty ? "none was found" : useless.joined(separator: "; ")
        if isCutShort { what += "; the search ended after \(Self.mostRequests) documents" }
        throw .verificationFailed(
            .unverifiable(
                "no good signature by \(keys.map(\.asked).joined(separator: " or ")), so the file does not get its "
                    + "name; its bytes are kept: \(what)"))
    }

    /// Returns the digest of the file in a signed list.
    private func digest(in text: [UInt8], _ list: String, _ url: String) -> Checksum? {
        let digest = try? ChecksumList(text, source: list).digest(
            ofExactly: served.name, [.sha256, .sha512, .sha384], isForOneFile: false)
        return digest?.stated(in: Self.signedList + url)
    }

    /// Returns who signed the file, or the list and its signed text. Nil if there is no good signature in this place.
    private mutating func signed(
        at place: SigningKey.Place, by key: GivenKey, _ file: Int32, _ checker: SignatureChecker, _ fetch: Fetch
    ) async -> (signers: [Signer], text: [UInt8])? {
        var list: [UInt8] = []
        if let name = place.list {
            guard let bytes = await document(name, fetch) else { return nil }
            list = bytes
        }
        guard let signature = await document(place.signature, fetch) else { return nil }
        let finding: SignatureFinding
        if place.list == nil {
            finding = await checker.finding(signature, over: file, by: key.key).finding
        } else if key.key.isSignedInside(signature) {
            (finding, list) = await memory.finding(signature, over: nil, by: key, checker)
        } else if place.list == place.signature {
            return nil
        } else {
            finding = await memory.finding(signature, over: list, by: key, checker).finding
        }
        switch finding {
        case .good(let signers): return (signers, list)
        case .bad(let why): useless.append("\(served.folder)\(place.signature) \(why)")
        }
        return nil
    }

    /// Returns a document in the folder, which is requested once only.
    private mutating func document(_ name: String, _ fetch: Fetch) async -> [UInt8]? {
        if let known = documents[name] { return known }
        isCutShort = documents.count >= Self.mostRequests
        guard !isCutShort, let url = try? SourceURL.parse(served.folder + name).get().url else { return nil }
        let answer = await fetch(url)
        documents[name] = .some(try? answer.get())
        switch answer {
        case .success, .failure(.serverRefused(status: 404, _)), .failure(.serverRefused(status: 410, _)): break
        case .failure(let error):
            useless.append("\(url) did not come: \(error)")
            if ProofPlan.isRefusal(error, isRequired: true) { transient = error }
        }
        return try? answer.get()
    }
}

extension SigningKey {
    /// A document that may be signed, by its name in the folder of the file.
    fileprivate struct Place {
        let signature: String
        /// The signed list, which may have its signature inside. Nil if the file itself is signed.
        var list: String?
    }

    private static let lists = ["SHA256SUMS", "SHA512SUMS", "CHECKSUM", "sha256sum.txt"]

    /// Returns the places for a key of this kind, in the order in which they are asked.
    /// - Parameter likely: The document of the list that is asked first.
    fileprivate func places(of file: String, likely: String?) -> [Place] {
        let ofFile = isOpenPGP ? [".asc", ".sig", ".gpg", ".sign"] : [".minisig", ".sig"]
        let ofList = isOpenPGP ? ["", ".gpg", ".asc", ".sign", ".sig"] : ofFile
        let inside = isOpenPGP ? "sha256sums.asc" : "SHA256.sig"
        let lists =
            Self.lists.flatMap { list in ofList.map { Place(signature: list + $0, list: list) } }
            + [Place(signature: inside, list: inside)]
        return lists.filter { $0.signature == likely } + ofFile.map { Place(signature: file + $0) }
            + lists.filter { $0.signature != likely }
    }

    /// Whether any key in a keyring counts.
    fileprivate var isRing: Bool { if case .openPGP(_, nil) = self { true } else { false } }

    fileprivate var isOpenPGP: Bool { if case .openPGP = self { true } else { false } }

    /// Whether a document has a signature of the key's kind inside: a clear-signed list, or one that signify -e made.
    fileprivate func isSignedInside(_ bytes: [UInt8]) -> Bool {
        if !isOpenPGP { return Ed25519Signature(bytes).map { !$0.isHashed && !$0.rest.isEmpty } ?? false }
        // gpgv would unpack another kind of message, and signed text without dash-escapes can end within a line.
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        return lines.first?.starts(with: "-----BEGIN PGP SIGNED MESSAGE-----".utf8) == true
            && !lines.contains { $0.starts(with: "NotDashEscaped:".utf8) }
    }
}
