/// Turns what users and servers call a file into one safe path component.
public enum FileNaming {
    /// A name for the final file; see CONTRACT "Files". Order: `filename*`, `filename`, the last path segment of the
    /// final URL, `download`.
    public static func name(contentDisposition: String?, url: SourceURL) -> String {
        name(fromPath: url.path) ?? "download"
    }

    /// The last segment of a percent-encoded URL path as a safe name; nil when nothing usable is there.
    public static func name(fromPath path: String) -> String? {
        path.split(separator: "/").last.flatMap { sanitized(String($0)) }
    }

    /// One path component out of any text; nil when nothing is left.
    public static func sanitized(_ text: String) -> String? { text.isEmpty ? nil : text }

    /// `name (1).ext`: the `count`-th alternative, at most 255 bytes with its extension kept.
    public static func alternative(_ name: String, _ count: Int) -> String { "\(name) (\(count))" }

    /// `folder/name`.
    public static func path(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// The name of the partial file; `name` is shortened so that it fits in 255 bytes.
    public static func partial(_ name: String) -> String { name + ".part" }
}
