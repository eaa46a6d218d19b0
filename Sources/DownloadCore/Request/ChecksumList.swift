/// What a checksum file says (`SHA256SUMS`, `debian.iso.sha256`): which file must hash to what.
package struct ChecksumList: Codable, Sendable, Equatable {
    package struct Entry: Codable, Sendable, Equatable {
        /// The folders before the name, without `./`; empty for none.
        package let folder: String
        /// The last component; empty for a digest that stands alone.
        package let name: String
        package let checksum: Checksum

        init(path: String, checksum: Checksum) {
            let parts = ChecksumList.components(path)
            name = parts.last ?? ""
            folder = parts.dropLast().joined(separator: "/")
            self.checksum = checksum
        }
    }

    /// The file or URL it came from, for messages.
    package let source: String
    /// By name.
    package let entries: [Entry]

    /// - Parameter entries: at least one.
    init(source: String, entries: [Entry]) {
        self.source = source
        self.entries = entries.sorted { $0.name < $1.name }
    }

    /// Bytes, roughly, as it travels.
    package var size: Int { entries.reduce(100) { $0 + $1.name.utf8.count + $1.folder.utf8.count + 220 } }

    /// A request whose name only its answer tells carries the list with it, into the store: it must be short then.
    package static let longestCarried = 1000

    /// Gives the request its checksum, found by the name in its URL or the one asked for; where neither is listed, the
    /// answer of the server may bring another one, and the request takes the list along.
    /// - Parameter isOnly: it is the only request: a digest without a name can mean nothing else.
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

    /// The checksum of the first of these paths that is listed.
    /// - Parameter isOnly: there is no other file that a digest without a name could mean.
    package func checksum(forFirstOf paths: [String], isOnly: Bool = false) throws(DownloadError) -> Checksum {
        if isBare { return try bare(isOnly: isOnly) }
        for path in paths { if let found = try checksum(for: path) { return found } }
        throw missing(paths)
    }

    /// The checksum of the file at `path`, by its last component; of several with that name, by the folders it shares
    /// with one of them. Nil when there is none.
    package func checksum(for path: String) throws(DownloadError) -> Checksum? {
        let parts = Self.components(path)
        guard let name = parts.last else { return nil }
        let matching = entries[firstIndex(of: name)...].prefix { $0.name == name }
        if matching.isEmpty { return nil }
        let depths = matching.map { entry in
            let folders = Self.components(entry.folder)
            return parts.dropLast().suffix(folders.count) == folders[...] ? folders.count : -1
        }
        let deepest = depths.max() ?? -1
        return try choose(zip(matching, depths).filter { $0.1 == deepest }.map(\.0), name)
    }

    /// Binary search: the first entry whose name is not before `name`.
    private func firstIndex(of name: String) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].name < name { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private var isBare: Bool { entries.allSatisfy { $0.name.isEmpty } }

    private func bare(isOnly: Bool) throws(DownloadError) -> Checksum {
        guard isOnly else { throw failure("its digest names no file, so it can be used for a single file only") }
        return try choose(entries, "one file")
    }

    /// Of several algorithms the preferred one; two digests by one algorithm are a contradiction.
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
        return failure("it has no checksum for \(names.isEmpty ? "it" : names.joined(separator: " or "))")
    }

    private func failure(_ why: String) -> DownloadError { .verificationFailed(.unverifiable("\(source): \(why)")) }

    // MARK: Paths

    /// Without empty ones and `.`; `..` is a component like any other.
    static func components(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
    }

    /// The path of a URL as a file system would have it.
    package static func path(_ url: SourceURL) -> String {
        url.path.utf8.split(separator: UInt8(ascii: "/")).map { part in
            let decoded = part.percentDecoded.flatMap { String(validating: $0, as: UTF8.self) }
            // A slash that is escaped separates nothing.
            return decoded.flatMap { $0.contains("/") ? nil : $0 } ?? String(Substring(part))
        }.joined(separator: "/")
    }
}
