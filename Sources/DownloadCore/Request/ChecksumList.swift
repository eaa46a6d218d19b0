/// The content of a checksum file (`SHA256SUMS`, `debian.iso.sha256`): the checksums of files. See
/// ``DownloadRequest/checksums``.
public struct ChecksumList: Codable, Sendable, Equatable {
    package struct Entry: Codable, Sendable, Equatable {
        /// The folders before the name, without `./`; empty for none. If the path is absolute, begins with a slash.
        package let folder: String
        /// The last component of the path; empty for a digest without a name.
        package let name: String
        package let checksum: Checksum

        init(path: String, checksum: Checksum) {
            let parts = ChecksumList.components(path)
            name = parts.last ?? ""
            folder = (path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/")
            self.checksum = checksum
        }
    }

    /// The file or URL of the list, for messages.
    public let source: String
    /// The entries, sorted by name.
    package let entries: [Entry]

    /// - Parameter entries: The entries, at least one.
    init(source: String, entries: [Entry]) {
        self.source = source
        self.entries = entries.sorted { $0.name < $1.name }
    }

    /// The approximate size of the list in a message to another process, in bytes.
    package var size: Int { entries.reduce(100) { $0 + $1.name.utf8.count + $1.folder.utf8.count + 220 } }

    /// The maximum number of entries of a list that is stored with a request. A list is stored if the name of the file
    /// is known only after the server's answer.
    package static let longestCarried = 1000

    /// Looks up the request's checksum by the name in its URL and by the requested name. If neither name is listed, the
    /// server may give another name, so the list is stored with the request.
    /// - Parameter isOnly: Whether `request` is the only request, so that a digest without a name belongs to it.
    package func settle(_ request: inout DownloadRequest, isOnly: Bool) throws(DownloadError) {
        if isBare {
            request.checksum = try bare(isOnly: isOnly)
            return
        }
        let asked = request.destination.fileName
        let byURL = try checksum(for: Self.path(request.url))
        let byName = try asked.flatMap { name throws(DownloadError) in try checksum(for: name) }
        if let byURL, let byName, byURL != byName {
            throw failure(
                "it has different digests for \(Self.components(Self.path(request.url)).last ?? "") and \(asked ?? "")")
        }
        request.checksum = byURL ?? byName
        if request.checksum != nil { return }
        guard entries.count <= Self.longestCarried else {
            throw missing([Self.path(request.url), asked].compactMap(\.self))
        }
        request.checksums = self
    }

    /// Returns the list with the digests of one algorithm. Throws if there are none.
    package func only(_ algorithm: Checksum.Algorithm) throws(DownloadError) -> ChecksumList {
        let kept = entries.filter { $0.checksum.algorithm == algorithm }
        if kept.isEmpty { throw failure("it has no \(algorithm.rawValue) digest") }
        return ChecksumList(source: source, entries: kept)
    }

    /// Returns the checksum of the first of these paths that is listed.
    /// - Parameter isOnly: Whether there is only one file, so that a digest without a name belongs to it.
    package func checksum(forFirstOf paths: [String], isOnly: Bool = false) throws(DownloadError) -> Checksum {
        if isBare { return try bare(isOnly: isOnly) }
        for path in paths { if let found = try checksum(for: path) { return found } }
        throw missing(paths)
    }

    /// Looks up the checksum of the file at `path` by the last component of the path. If several entries have this
    /// name, an entry whose folders are the last folders of the path is preferred. Among several such entries, the one
    /// with the most folders is used. Returns nil if no entry has the name.
    public func checksum(for path: String) throws(DownloadError) -> Checksum? {
        let parts = Self.components(path)
        guard let name = parts.last else { return nil }
        let matching = entries[entries.partitioningIndex { $0.name >= name }...].prefix { $0.name == name }
        if matching.isEmpty { return nil }
        let depths = matching.map { entry in
            let folders = Self.components(entry.folder)
            return parts.dropLast().suffix(folders.count) == folders[...] ? folders.count : -1
        }
        let deepest = depths.max() ?? -1
        return try choose(zip(matching, depths).filter { $0.1 == deepest }.map(\.0), name)
    }

    private var isBare: Bool { entries.allSatisfy { $0.name.isEmpty } }

    private func bare(isOnly: Bool) throws(DownloadError) -> Checksum {
        guard isOnly else { throw failure("its digest names no file, so it can be used for a single file only") }
        return try choose(entries, "one file")
    }

    /// Returns the checksum of the preferred algorithm. Throws if there are two digests of one algorithm, because they
    /// contradict each other.
    private func choose(_ entries: [Entry], _ what: String) throws(DownloadError) -> Checksum {
        for algorithm in Checksum.Algorithm.preferred {
            let digests = Set(entries.lazy.map(\.checksum).filter { $0.algorithm == algorithm }.map(\.digest))
            if digests.count > 1 { throw failure("it has \(digests.count) different digests for \(what)") }
        }
        let all = entries.map(\.checksum)
        for algorithm in Checksum.Algorithm.preferred {
            if let found = all.first(where: { $0.algorithm == algorithm }) { return found }
        }
        throw failure("it has no checksum for \(what)")
    }

    private func missing(_ paths: [String]) -> DownloadError {
        let names = paths.compactMap { Self.components($0).last }.firstOccurrences
        return failure("it has no checksum for \(names.isEmpty ? "the file" : names.joined(separator: " or "))")
    }

    private func failure(_ why: String) -> DownloadError { .verificationFailed(.unverifiable("\(source): \(why)")) }

    // MARK: Paths

    /// Returns the components of a path without empty ones and `.`. `..` is a component like any other.
    static func components(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
    }

    /// Returns the path of a URL with its escapes decoded.
    package static func path(_ url: SourceURL) -> String {
        url.path.utf8.split(separator: UInt8(ascii: "/")).map { part in
            let decoded = part.percentDecoded.flatMap { String(validating: $0, as: UTF8.self) }
            // An escaped slash does not separate components.
            return decoded.flatMap { $0.contains("/") ? nil : $0 } ?? String(Substring(part))
        }.joined(separator: "/")
    }
}
