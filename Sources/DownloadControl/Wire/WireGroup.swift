import DownloadCore
import Foundation

/// URLs and the fields of their requests, without the fields that equal ``RequestDocument/baseline``.
struct WireGroup: Sendable {
    var urls: [String]
    /// The part that all downloads of the group share, with its secrets.
    private let request: DownloadRequest

    var folder: String { request.destination.folder }

    init(_ run: RequestList.Run) {
        urls = run.urls.map(\.string)
        var request = run.request
        request.pieces = request.pieces.flatMap { $0.carriedSize > PieceHashes.longestCarried ? nil : $0 }
        self.request = request
    }

    func append(to requests: inout RequestList) throws(WireProblem) {
        if urls.isEmpty { throw WireProblem("urls: give at least one") }
        // Whether the last request was one without a credential of its own.
        var isContinued = false
        for text in urls {
            let (url, credential) = try SourceURL.given(text)
            let hasOwn = request.credential == nil && credential != nil
            if isContinued, !hasOwn {
                requests.append(url)
                continue
            }
            var request = request
            request.url = url
            if hasOwn { request.credential = credential }
            requests.append(request)
            isContinued = !hasOwn
        }
    }
}

// MARK: Writing

extension WireGroup: Encodable {
    /// Encodes the group without its URLs.
    func encode(to encoder: any Encoder) throws {
        var document = encoder.container(keyedBy: DocumentKey.self)
        try document.encode(folder, forKey: "folder")
        try WireFields.write(request, to: &document)
        if !request.headers.isEmpty { try document.encode(request.headers.map(\.wire), forKey: "headers") }
        try document.encodeIfPresent(request.credential?.user, forKey: "user")
        try document.encodeIfPresent(request.credential?.password, forKey: "password")
        try document.encodeIfPresent(request.checksum?.description, forKey: "checksum")
        if !request.trust.verifiesServer { try document.encode(true, forKey: "insecure") }
        let options = WireOptions(
            http: request.http, secretFiles: request.secretFiles, trust: request.trust, network: request.network,
            schemes: request.redirect.schemes)
        try document.encodeIfPresent(options, forKey: "options")
    }

    /// Writes the JSON text of the group. The URLs are written directly, because an encoder takes several times as
    /// long for them.
    func write(to text: inout [UInt8]) throws {
        text.append(contentsOf: #"{"urls":["#.utf8)
        for (index, url) in urls.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            JSONText.append(url, to: &text)
        }
        text.append(contentsOf: "],".utf8)
        text.append(contentsOf: try DirectEncoder.bytes(self).dropFirst())
    }
}

// MARK: Reading

extension WireGroup: Decodable {
    init(from decoder: any Decoder) throws {
        let document = try decoder.container(keyedBy: DocumentKey.self)
        urls = try document.decode([String].self, forKey: "urls")
        var request = RequestDocument.baseline
        request.destination.folder = try document.decode(String.self, forKey: "folder")
        _ = try Self.mirrors(document.decodeIfPresent([String].self, forKey: "mirrors") ?? [])
        try WireFields.read(into: &request, from: document)
        try Self.fill(&request, document)
        // 0 stands for no limit.
        if request.rateLimit == 0 { request.rateLimit = nil }
        try Self.check(request)
        self.request = request
    }

    /// Reads the fields whose form differs from the form in the store, or that the store lacks.
    private static func fill(
        _ request: inout DownloadRequest, _ document: KeyedDecodingContainer<DocumentKey>
    ) throws {
        func value<Value: Decodable>(_ name: DocumentKey, _ type: Value.Type = Value.self) throws -> Value? {
            try document.decodeIfPresent(type, forKey: name)
        }
        request.headers = try RequestHeader.fields(value("headers") ?? [])
        let password: String? = try value("password")
        request.credential = try value("user").map { Credential(user: $0, password: password) }
        if let text: String = try value("checksum") {
            guard let checksum = Checksum(text) else { throw WireProblem("checksum: give it as sha256:HEX") }
            request.checksum = checksum
        }
        if try value("insecure") == true { request.trust = .insecure }
        guard let options: WireOptions = try value("options") else { return }
        request.http = options.givenHTTP
        request.secretFiles = options.secretFiles ?? request.secretFiles
        request.trust = options.trust ?? request.trust
        request.network = try options.givenNetwork
        request.redirect.schemes = options.schemes
    }

    static func mirrors(_ texts: [String]) throws(WireProblem) -> [SourceURL] {
        var mirrors: [SourceURL] = []
        for text in texts {
            let (url, credential) = try SourceURL.given(text)
            guard credential == nil else { throw WireProblem("mirrors: only the first URL may have credentials") }
            mirrors.append(url)
        }
        return mirrors
    }

    private static func check(_ request: DownloadRequest) throws(WireProblem) {
        if let path = RequestDocument.impossibleField(of: request) {
            throw WireProblem("\(WireFields.name(of: path)): out of range")
        }
        if let name = RequestDocument.unusableField(of: request) { throw WireProblem("\(name): not usable") }
        guard isAbsolute(request.destination.folder) else { throw WireProblem("folder: give an absolute path") }
        if let file = request.destination.fileName, !FileNaming.isUsable(file) {
            throw WireProblem("file: not usable as a file name")
        }
        guard request.checksums?.entries.count ?? 0 <= ChecksumList.longestCarried else {
            throw WireProblem("checksums: more than \(ChecksumList.longestCarried) entries")
        }
        for (program, name) in [(request.hooks?.onComplete, "onComplete"), (request.hooks?.onError, "onError")] {
            guard let program else { continue }
            guard isAbsolute(program) else { throw WireProblem("\(name): give an absolute path") }
        }
    }

    private static func isAbsolute(_ path: String) -> Bool { path.hasPrefix("/") && !path.utf8.contains(0) }
}
