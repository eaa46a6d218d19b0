import Foundation

/// The search for the digest of a file among the documents beside it, such as `SHA256SUMS`: which document is asked
/// next, and which digest of the file an answer states.
///
/// A right download fails if a digest is believed wrongly. So a digest counts only under the exact name of the file, in
/// a document for its folder, with the algorithm that the name of the document promises. If a document has two
/// different digests of one algorithm for the file, neither counts.
package struct ProofPlan: Sendable {
    /// The size in bytes from which files are looked up, unless the user requires a proof.
    package static let leastSize: Int64 = 8 << 20
    /// The number of documents that are read for a version of a file, unless the user requires a proof.
    package static let mostRequests = 2
    /// The time limit of one request.
    package static let timeLimit = Duration.seconds(10)

    /// The result of a search, which the record of the download keeps.
    package struct Outcome: Codable, Sendable, Equatable {
        /// The URLs of the documents for which an answer came. A request without an answer does not count.
        package var asked: [String] = []
        /// The digest. Its ``Checksum/field`` is the URL of the document.
        package var found: Checksum?
        /// When the document with the digest was last changed, if its server says so.
        package var modified: Date?
        /// The URL of a document that is older than the file, so that its digest is not used.
        package var stale: String?

        package init() {}

        /// Gives up the digest if its document is older than the file. The document is then about an earlier version.
        /// - Returns: False if that is not known.
        package mutating func ignoreIfStale(_ file: Validators, now: Date) -> Bool {
            guard let modified, let date = file.lastModified.flatMap({ HTTPDate.parse($0, now: now) }), modified < date
            else { return false }
            (stale, found) = (found?.field, nil)
            return true
        }
    }

    private let file: ServedFile
    private let size: Int64
    /// Whether the user requires a proof, so that all documents are asked.
    package let isRequired: Bool
    private var places: [Place]
    package private(set) var outcome: Outcome
    /// The places that do not exist.
    package private(set) var missing: Set<String> = []

    /// Creates the plan for a file whose size is known.
    /// - Returns: Nil if the file is not looked up.
    package init?(for record: DownloadRecord) {
        let (request, outcome) = (record.request, record.resume.proof ?? Outcome())
        isRequired = request.proof == .require
        let least = isRequired ? 1 : Self.leastSize
        guard [.auto, .require].contains(request.proof), request.signedBy.isEmpty, !Self.hasSecrets(request),
            request.isPlain, request.http.acceptsCompressed == nil, record.resume.contentEncoding == nil,
            request.checksums == nil, request.describedName == nil, !record.isProved, !record.hasPieces,
            let size = record.resume.total ?? record.completed?.bytes, size >= least
        else { return nil }
        let file = record.resume.finalURL.flatMap { $0.isOnServer(of: request.url) ? $0 : nil } ?? request.url
        guard let served = ServedFile(file) else { return nil }
        self.file = served
        self.size = size
        self.outcome = outcome
        places = [Place(releaseOf: request.url)].compactMap(\.self)
        if places.isEmpty {
            // A name without an extension may be a token, and nothing is beside a token.
            let name = served.name
            guard let dot = name.lastIndex(of: "."), dot > name.startIndex, dot < name.index(before: name.endIndex)
            else { return nil }
            places = Place.besideFile
        }
        places = places.filter { !outcome.asked.contains(url(of: $0)) }
        if next == nil { return nil }
    }

    /// Returns the plan that reads the document with the digest of a record once more; nil if there is no such digest.
    package static func again(for record: DownloadRecord) -> ProofPlan? {
        guard let outcome = record.resume.proof, let field = outcome.found?.field else { return nil }
        var record = record
        record.resume.proof = nil
        guard var plan = ProofPlan(for: record) else { return nil }
        plan.places = plan.places.filter { plan.url(of: $0) == field }
        plan.outcome.asked = outcome.asked.filter { $0 != field }
        return plan
    }

    /// The URL of the folder under which is recorded what is known of it.
    package var folder: String { file.folder }

    /// The URL to ask next; nil at the end of the search.
    package var next: SourceURL? {
        guard outcome.found == nil, isRequired || outcome.asked.count < Self.mostRequests, let place = places.first
        else { return nil }
        return try? SourceURL.parse(url(of: place)).get().url
    }

    /// The names of the places that were not asked.
    package var open: Set<String> { Set(places.map(\.name)) }

    /// Leaves out the places that an earlier search did not find in this folder. If the user requires a proof, they are
    /// asked again.
    package mutating func skip(_ missing: Set<String>) {
        if !isRequired { places.removeAll { missing.contains($0.name) } }
    }

    /// Handles the answer to the request for ``next``.
    package mutating func handle(_ answer: Result<ProofDocument, DownloadError>) {
        let place = places[0]
        switch answer {
        case .success(let document):
            outcome.found = place.digest(of: file.name, size: size, in: document.bytes)?.stated(in: url(of: place))
            outcome.modified = document.modified
        case .failure(let error) where Self.isRefusal(error, isRequired: isRequired):
            if case .serverRefused = error { missing.formUnion(places.map(\.name)) }
            places = []
            return
        case .failure(.serverRefused(let status, _)) where status == 404 || status == 410: missing.insert(place.name)
        case .failure: break
        }
        places.removeFirst()
        outcome.asked.append(url(of: place))
    }

    /// Returns whether a server is asked for no more documents after a failure: it refuses such requests, has too many
    /// of them, or does not answer. Some servers refuse (403) each file that they do not have, so a user who requires a
    /// proof gets the other documents.
    package static func isRefusal(_ error: DownloadError, isRequired: Bool) -> Bool {
        switch error {
        case .serverRefused(let status, _): status == 403 && !isRequired || status == 429 || status >= 500
        case .networkFailed: true
        default: false
        }
    }

    /// Returns the request for a document about the file of another request, without header fields and secrets. No
    /// redirect is followed, because the user knows the host of the file, and no other host is asked.
    /// - Parameter final: The URL to which the file was redirected, if the document counts with a signature only. Then
    ///   the document may be redirected to the same server. So signatures of GitHub's releases are found.
    package static func request(
        for url: SourceURL, like request: DownloadRequest, redirectedTo final: SourceURL? = nil
    ) -> DownloadRequest {
        var request = request
        let final = final == request.url ? nil : final
        request.url = url
        request.headers = []
        request.secretFiles = SecretFiles()
        (request.http.method, request.http.body) = (nil, nil)
        (request.http.referer, request.http.authentication, request.http.signature) = (nil, nil, nil)
        (request.trust.certificate, request.trust.privateKey, request.credential) = (nil, nil, nil)
        request.timeouts = DownloadRequest.Timeouts(connect: timeLimit, stall: timeLimit, total: timeLimit)
        request.validation = ResponseValidation()
        request.redirect.limit = final == nil ? 0 : 3
        request.redirect.origins = final.map { [url.origin, $0.origin] }
        request.retry.limit = 0
        return request
    }

    /// Returns whether the request has secrets, as far as dlm knows. The query of a URL is often one.
    private static func hasSecrets(_ request: DownloadRequest) -> Bool {
        request.credential != nil || !request.secretFiles.isEmpty || request.headers.contains(where: \.isSecret)
            || request.url.string.contains("?")
    }

    private func url(of place: Place) -> String {
        if place.isRelease { return place.name }
        return folder + (place.isSidecar ? file.escapedName : "") + place.name
    }
}

/// A document as a server sent it.
package struct ProofDocument: Sendable {
    package let bytes: [UInt8]
    /// When the document was last changed, if the server says so.
    package var modified: Date?

    package init(_ bytes: [UInt8], modified: Date? = nil) { (self.bytes, self.modified) = (bytes, modified) }
}

extension SourceURL {
    /// Whether the URLs have one origin, or the other URL has the same host without TLS, both at the default ports.
    fileprivate func isOnServer(of other: SourceURL) -> Bool {
        hasOrigin(of: other)
            || host == other.host && (scheme, port, other.scheme, other.port) == ("https", 443, "http", 80)
    }
}

/// The place of a document that may have the digest of a file.
private struct Place: Equatable {
    /// The name of a list, the extension of a document for one file, or the URL of a release of GitHub.
    let name: String
    /// The algorithms that may be in the document, the preferred one first.
    var algorithms: [Checksum.Algorithm] = [.sha256]

    var isSidecar: Bool { name.hasPrefix(".") }
    var isRelease: Bool { name.hasPrefix("https:") }

    static let besideFile = [
        // One list serves all files of the folder.
        Self(name: "SHA256SUMS"), Self(name: ".sha256"), Self(name: "SHA512SUMS", algorithms: [.sha512]),
        Self(name: ".sha512", algorithms: [.sha512]), Self(name: "CHECKSUM", algorithms: [.sha256, .sha512]),
        Self(name: "sha256sum.txt"), Self(name: ".sha256sum"), Self(name: ".md5", algorithms: [.md5]),
    ]

    func digest(of file: String, size: Int64, in bytes: [UInt8]) -> Checksum? {
        if isRelease { return Self.releasedDigest(of: file, size: size, in: bytes) }
        // The start of HTML or XML, also after a byte order mark, is no list. The last line of a list may have been cut
        // off within the name.
        guard bytes.first(where: { !$0.isSpace && $0 < 0x80 }) != UInt8(ascii: "<"),
            isSidecar || bytes.last == UInt8(ascii: "\n"), let list = try? ChecksumList(bytes, source: name)
        else { return nil }
        return list.digest(ofExactly: file, algorithms, isForOneFile: isSidecar)
    }
}

/// The releases of GitHub ("REST API, Releases"). The digests of their files are on another host, which the links to
/// the files name.
extension Place {
    fileprivate init?(releaseOf url: SourceURL) {
        let parts = url.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard url.scheme == "https", url.host == "github.com", parts.count == 6, parts[3] == "releases" else {
            return nil
        }
        let release: Substring
        switch (parts[4], parts[5]) {
        case ("download", let tag): release = "tags/" + tag
        case ("latest", "download"): release = "latest"
        default: return nil
        }
        self.init(name: "https://api.github.com/repos/\(parts[1])/\(parts[2])/releases/\(release)")
    }

    private struct Release: Decodable {
        struct Asset: Decodable {
            let name: String
            let size: Int64
            let digest: String?
        }
        let assets: [Asset]
    }

    fileprivate static func releasedDigest(of file: String, size: Int64, in bytes: [UInt8]) -> Checksum? {
        let release = try? JSONDecoder().decode(Release.self, from: Data(bytes))
        let assets = release?.assets.filter { $0.name.utf8.elementsEqual(file.utf8) } ?? []
        guard assets.count == 1, assets[0].size == size, let digest = assets[0].digest.flatMap({ Checksum($0) }),
            digest.algorithm == .sha256
        else { return nil }
        return digest
    }
}

extension ChecksumList {
    /// Returns the digest of the file in the list's folder whose name has exactly these bytes. Nil if the list has
    /// none, or if it contradicts itself.
    /// - Parameter isForOneFile: Whether a digest without a name counts.
    package func digest(
        ofExactly name: String, _ algorithms: [Checksum.Algorithm], isForOneFile: Bool
    ) -> Checksum? {
        let own = entries.filter { entry in
            // Two strings with other bytes can be equal, and bytes that are no UTF-8 were replaced in the name.
            entry.folder.isEmpty && entry.name.utf8.elementsEqual(name.utf8) && !name.contains("\u{FFFD}")
                || entry.name.isEmpty && isForOneFile
        }.map(\.checksum)
        guard let algorithm = algorithms.first(where: { known in own.contains { $0.algorithm == known } }) else {
            return nil
        }
        let digests = own.filter { $0.algorithm == algorithm }
        return digests.allSatisfy { $0 == digests[0] } ? digests[0] : nil
    }
}
