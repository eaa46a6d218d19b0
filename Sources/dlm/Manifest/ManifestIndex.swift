import DownloadKit

/// Where the last line of each URL is in one or several manifests: 40 bytes of memory a URL, not the lines.
struct ManifestIndex: Sendable {
    private struct Place {
        let file: Int32
        let offset: Int64
        let isDone: Bool
    }

    private(set) var files: [ManifestFile] = []
    /// Lines that are no entries.
    private(set) var strangers = 0
    /// By a digest of the URL: two URLs with the same one are improbable, and lines are compared before they count.
    private var places: [Int: Place] = [:]

    var count: Int { places.count }

    /// Within a file, the last line of a URL counts. Among files, one that says that the URL is done, else the last.
    mutating func add(_ file: ManifestFile) throws {
        let number = Int32(files.count)
        files.append(file)
        try file.forEachLine { offset, line in
            guard let url = ManifestFile.url(of: line) else {
                if !line.isEmpty { strangers += 1 }
                return
            }
            let place = Place(file: number, offset: offset, isDone: ManifestFile.isDone(line))
            let key = Self.key(url)
            if let known = places[key], known.file != number, known.isDone, !place.isDone { return }
            places[key] = place
        }
    }

    func entry(for url: String) throws -> ManifestEntry? {
        guard let place = places[Self.key(url)] else { return nil }
        let entry = try files[Int(place.file)].entry(at: place.offset)
        return entry.url == url ? entry : nil
    }

    /// Calls `body` with the lines that count, in the order of the files.
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
