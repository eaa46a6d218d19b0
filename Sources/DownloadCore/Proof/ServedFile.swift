/// A file on a server, whose digest or signature may be in a document of the same folder.
package struct ServedFile: Sendable {
    /// The URL of the folder, with its last slash.
    package let folder: String
    /// The name as in the URL.
    package let escapedName: String
    /// The name as in a list, without percent-encoding.
    package let name: String

    /// - Returns: Nil if nothing is looked up beside the URL: it is not of HTTP, has a query, or names a folder.
    package init?(_ url: SourceURL) {
        guard url.isHTTP, !url.string.contains("?"), !url.string.hasSuffix("/"),
            let slash = url.string.lastIndex(of: "/"), let name = Self.name(of: url)
        else { return nil }
        folder = String(url.string[...slash])
        escapedName = String(url.string[slash...].dropFirst())
        self.name = String(name)
    }

    /// Returns the last component of the path, without percent-encoding.
    package static func name(of url: SourceURL) -> Substring? { ChecksumList.path(url).split(separator: "/").last }
}
