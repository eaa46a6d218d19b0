import ArgumentParser
import DownloadKit
import Foundation

enum FileNameRule: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// The part of the URL after the host, percent-encoded, in a folder for the host.
    case url
    /// The SHA-256 digest of the URL.
    case hash
    /// The position of the URL in its list, from 0.
    case number
}

/// The names of files by a ``FileNameRule``. No two URLs of a list get the same name, even if different workers
/// download them (docs/scale.md).
struct FileNamer: Sendable {
    let rule: FileNameRule
    /// Whether files are put into two levels of folders, so that no folder has too many files.
    let spreads: Bool
    /// Whether a file with a name of this namer can only be the file of its URL. If so, an existing file is not
    /// downloaded again.
    var trustsFiles = false

    /// Returns the name of a file, and its folder below the folder of the command, without a slash at its beginning and
    /// end. The folder may be empty.
    /// - Parameter position: the position of the URL in its list.
    func place(of url: SourceURL, at position: Int) throws(DownloadError) -> (folder: String, name: String) {
        switch rule {
        case .number:
            let folder = (position / 1_000_000).padded(3) + "/" + (position / 1000 % 1000).padded(3)
            return (spreads ? folder : "", position.padded(9) + Self.ending(of: url))
        case .hash:
            let digest = try TextDigest(url.string).hexadecimal
            return (spreads ? Self.levels(digest) : "", digest + Self.ending(of: url))
        case .url:
            let digest = try TextDigest(url.string).hexadecimal
            let folder = Self.folder(of: url) + (spreads ? "/" + Self.levels(digest) : "")
            return (folder, Self.name(of: url, digest))
        }
    }

    /// Returns the path of one of 65,536 folders.
    private static func levels(_ digest: String) -> String { "\(digest.prefix(2))/\(digest.dropFirst(2).prefix(2))" }

    /// Returns the extension of the last path segment with its dot, or an empty text if there is no usual extension.
    private static func ending(of url: SourceURL) -> String {
        let segment = url.path.split(separator: "/").last ?? ""
        guard let dot = segment.lastIndex(of: "."), dot > segment.startIndex else { return "" }
        let ending = segment[segment.index(after: dot)...]
        let isPlain = (1...10).contains(ending.utf8.count) && ending.utf8.allSatisfy(\.isLetterOrDigit)
        return isPlain && ending.lowercased() != "part" ? "." + ending : ""
    }

    // MARK: By the URL

    /// Returns the folder for the host. For https with its usual port, it is the host alone.
    private static func folder(of url: SourceURL) -> String {
        let usual = SourceScheme(rawValue: url.scheme)?.port
        let scheme = url.scheme == "https" ? "" : url.scheme + "+"
        return scheme + Form.encoded(url.host) + (url.port == usual || url.port == 0 ? "" : "+\(url.port)")
    }

    /// The longest name that is not cut, in bytes. It leaves room for the longer name of the partial file.
    private static let longest = 200

    /// Returns the part of the URL after the host, encoded as by Python's `urllib.parse.quote(text, safe="")`.
    private static func name(of url: SourceURL, _ digest: String) -> String {
        let text = url.string
        let start = text.range(of: "://").flatMap { text[$0.upperBound...].firstIndex(of: "/") } ?? text.endIndex
        var rest = text[start...]
        // The first slash is removed, unless only slashes follow the host: https://h/ needs its slash as a name, and
        // https://h// needs another name.
        if rest.first == "/", rest.utf8.contains(where: { $0 != UInt8(ascii: "/") }) { rest.removeFirst() }
        var name = Form.encoded(rest)
        if name.first == "." { name = "%2E" + name.dropFirst() }
        // Without this change, the partial file of another file could have the same name.
        if name.hasSuffix(".part") { name = name.dropLast(5) + "%2Epart" }
        if name.utf8.count <= longest { return name }
        // The comma marks a cut name, because other names cannot have a comma.
        return name.prefix(longest - 60) + "," + digest.prefix(32) + ending(of: url)
    }
}
