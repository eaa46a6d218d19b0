import HTTPTypes

/// The contents of a Metalink document (RFC 5854, or the older version 3): files with their sources and digests.
public struct Metalink: Sendable, Equatable {
    /// A file that the document describes.
    public struct File: Sendable, Equatable {
        /// The name as it is written. It may contain folders, and lead outside of the folder.
        public package(set) var name: String
        /// The size in bytes; nil if the document does not say it.
        public package(set) var size: Int64?
        /// The preferred checksum among the known algorithms.
        public package(set) var checksum: Checksum?
        package var pieces: PieceHashes?
        /// The sources, the best one first.
        package var sources: [Source] = []
        /// The number of URLs that cannot be used, such as those of other protocols.
        package var unusable = 0
        /// Whether the document lists a torrent or something similar for this file.
        package var hasMetaURL = false
        /// Whether the document has a signature. dlm does not check it.
        package var isSigned = false
    }

    package struct Source: Sendable, Equatable {
        package var url: SourceURL
        /// The priority. 1 is the best.
        package var priority: Int
        /// The country code (ISO 3166) in lower case.
        package var location: String?
    }

    /// The described files, at least one.
    public let files: [File]
    /// Sentences about the elements that were ignored because they have no usable value, such as an empty `<size>`. Each
    /// sentence names the line. There are at most 20 sentences.
    public let skipped: [String]

    /// The greatest size of a document in bytes. A larger file is surely no Metalink document.
    package static let largest = 16 << 20
    /// The greatest number of sources of one file.
    static let mostSources = 200
    static let mostFiles = 10_000
    static let mostSkipped = 20
    /// The media types of documents.
    static let types = ["application/metalink4+xml", "application/metalink+xml"]
}

extension Metalink.File {
    /// Returns the URLs of the sources. Sources in the country `location` come first. Otherwise the order is that of
    /// ``sources``.
    package func sources(preferring location: String?) -> [SourceURL] {
        let wanted = location?.lowercased()
        let near = sources.filter { $0.location == wanted && wanted != nil }
        return (near + sources.filter { $0.location != wanted || wanted == nil }).map(\.url)
    }

    /// Returns the folders and the name, all below the destination folder (RFC 5854 section 4.1.2.1).
    /// - Throws: ``FileFailure/nameOutside`` for absolute paths, `..`, `~`, names that ``FileNaming`` would change, and
    ///   paths of more than 16 parts.
    package func path() throws(DownloadError) -> (folders: [String], name: String) {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard let last = parts.last, parts.count <= Self.deepest,
            parts.allSatisfy({ FileNaming.sanitized($0) == $0 })
        else { throw .fileFailed(.nameOutside, path: name.isEmpty ? "''" : name) }
        return (Array(parts.dropLast()), last)
    }

    private static let deepest = 16

    /// Gives a request the size and the digests of the file, and the file's place below the folder unless the request
    /// has a name.
    /// - Throws: ``FileFailure/nameOutside``, as ``path()``.
    package func apply(to request: inout DownloadRequest) throws(DownloadError) {
        let path = try path()
        if request.destination.fileName == nil {
            request.destination.fileName = path.name
            request.destination.folder = path.folders.reduce(request.destination.folder, FileNaming.path)
        }
        (request.size, request.pieces, request.checksum) = (size, pieces, checksum)
    }
}

extension Metalink {
    /// Returns whether the answer is a document, by its media type.
    package static func isDocument(_ head: ResponseHead) -> Bool {
        guard let type = head.fields.value(.contentType), type.utf8.count < 100 else { return false }
        if type.hasOnly({ $0 != UInt8(ascii: "+") }) { return false }
        return ResponseJudge.mediaType(head).map(types.contains) ?? false
    }
}
