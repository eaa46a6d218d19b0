/// What a Metalink document says (RFC 5854, and version 3 before it): files, where they are, and what they hash to.
package struct Metalink: Sendable, Equatable {
    package struct File: Sendable, Equatable {
        /// As it is written: it may hold folders, and lead anywhere.
        package var name: String
        package var size: Int64?
        /// The preferred one of those that are known here.
        package var checksum: Checksum?
        package var pieces: PieceHashes?
        /// The best one first.
        package var sources: [Source] = []
        /// URLs that cannot be used here, such as those of other protocols.
        package var unusable = 0
        /// Lists a torrent, or the like.
        package var hasMetaURL = false
        /// Is signed; nobody here checks that.
        package var isSigned = false
    }

    package struct Source: Sendable, Equatable {
        package var url: SourceURL
        /// 1 is the best.
        package var priority: Int
        /// A country, as ISO 3166 has it, in lower case.
        package var location: String?
    }

    package let files: [File]
    /// What was left out because it says nothing, such as an empty `<size>`: a sentence for each, with its line.
    package let skipped: [String]

    /// Bytes; what is larger is not what it is taken for.
    package static let largest = 16 << 20
    /// Of one file.
    static let mostSources = 200
    static let mostFiles = 10_000
    static let mostSkipped = 20
    /// Media types of documents.
    static let types = ["application/metalink4+xml", "application/metalink+xml"]
}

extension Metalink.File {
    /// Those nearest to a place first, each in the order of the document.
    package func sources(preferring location: String?) -> [SourceURL] {
        let wanted = location?.lowercased()
        let near = sources.filter { $0.location == wanted && wanted != nil }
        return (near + sources.filter { $0.location != wanted || wanted == nil }).map(\.url)
    }

    /// The folders and the name, all of them below whatever folder the file is to lie in (RFC 5854 section 4.1.2.1).
    /// - Throws: ``FileFailure/nameOutside`` for anything else: absolute paths, `..`, `~`, hidden or invisible names.
    package func path() throws(DownloadError) -> (folders: [String], name: String) {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard let last = parts.last, parts.count <= Self.deepest,
            parts.allSatisfy({ FileNaming.sanitized($0) == $0 })
        else { throw .fileFailed(.nameOutside, path: name.isEmpty ? "''" : name) }
        return (Array(parts.dropLast()), last)
    }

    private static let deepest = 16
}
