import DownloadKit

/// An index of the last line of each URL in manifests. It needs 40 bytes for each URL, and does not keep the lines.
struct ManifestIndex: Sendable {
    private struct Place {
        let file: Int32
        let offset: Int64
        let isDone: Bool
    }

    private(set) var files: [ManifestFile] = []
    /// The number of lines that are not entries.
    private(set) var strangers = 0
    /// The places of the lines by a hash of the URL. Two URLs hardly ever have the same hash, but ``entry(for:)`` also
    /// compares the URLs.
    private var places: [Int: Place] = [:]

    var count: Int { places.count }

    /// Adds the lines of a file. If the file has several lines for a URL, the last one is used. If several files have
    /// the URL, a line with the status `done` is used, otherwise the line of the last file.
    mutating func add(_ file: ManifestFile) throws {
        let number = Int32(files.count)
        files.append(file)
        var last: [Int: Place] = [:]
        try file.forEachLine { offset, line in
            guard let url = ManifestFile.url(of: line) else {
                if !line.isEmpty { strangers += 1 }
                return
            }
            last[Self.key(url)] = Place(file: number, offset: offset, isDone: ManifestFile.isDone(line))
        }
        places.merge(last) { known, new in known.isDone && !new.isDone ? known : new }
    }

    func entry(for url: String) throws -> ManifestEntry? {
        guard let place = places[Self.key(url)] else { return nil }
        let entry = try files[Int(place.file)].entry(at: place.offset)
        return entry.url == url ? entry : nil
    }

    /// Calls `body` with the line that is used for each URL, in the order of the files.
    func forEachLine(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
        for (number, file) in files.enumerated() {
            try file.forEachLine { offset, line in
                guard let url = ManifestFile.url(of: line), let place = places[Self.key(url)],
                    place.file == number, place.offset == offset
                else { return }
                try body(line)
            }
        }
    }

    private static func key(_ url: String) -> Int {
        var hasher = Hasher()
        var url = url
        url.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }
}
