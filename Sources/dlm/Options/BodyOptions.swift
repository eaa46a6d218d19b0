import ArgumentParser
import DownloadKit
import Foundation

/// The options for the body of the request. The body may be secret and is never stored; `resume` accepts it again.
struct BodyOptions: OptionTable {
    var data: [String] = []
    var dataUrlencode: [String] = []

    /// The body that ``prepare()`` has read. This property is not an option.
    private var known: RequestBody?

    var readsInput: Bool {
        data.contains("@-") || dataUrlencode.contains { $0.hasSuffix("@-") && !$0.contains("=") }
    }

    /// Reads the files now, so that ``apply(to:in:)`` does not read them again for each download.
    mutating func prepare() throws { known = try body() }

    mutating func dropBody() { (data, dataUrlencode, known) = ([], [], nil) }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &data, "data", in: .commandLine, secret: .data, .texts("data"),
            "Send this form data by POST; repeatable, joined with &. Change the method with -X, and the type with "
                + "-H. @FILE sends a file without its line breaks, @- standard input.")
        row(
            &dataUrlencode, "data-urlencode", in: .commandLine, secret: .data, .texts("data"),
            "Send this form data percent-encoded, after the data of --data; repeatable. Give VALUE, NAME=VALUE, "
                + "@FILE or NAME@FILE.")
        row.change { request in
            if let body = try known ?? body() { request.http.body = body }
        }
        row.show("data") { $0.http.body.map { _ in "(not stored)" } }
    }

    private func body() throws -> RequestBody? {
        if data.isEmpty, dataUrlencode.isEmpty { return nil }
        let parts = try data.map(Self.plain) + dataUrlencode.map(Self.encoded)
        let bytes = Array(parts.joined(separator: [UInt8(ascii: "&")]))
        guard bytes.count <= RequestBody.longest else {
            throw ValidationError("--data: more than \(RequestBody.longest >> 10) KiB of data; give less")
        }
        return RequestBody(bytes)
    }

    private static func plain(_ text: String) throws -> [UInt8] {
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        return try read(text.dropFirst()).filter { ![10, 13, 0].contains($0) }
    }

    /// Returns the value of `--data-urlencode` in encoded form. As in curl, the first `=` or `@` decides the kind of
    /// value.
    private static func encoded(_ text: String) throws -> [UInt8] {
        guard let mark = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
            return Array(Form.encoded(text).utf8)
        }
        let (name, rest) = (text[..<mark], text[text.index(after: mark)...])
        let value = text[mark] == "=" ? String(rest) : String(decoding: try read(rest), as: UTF8.self)
        return Array((name.isEmpty ? "" : "\(name)=").utf8) + Array(Form.encoded(value).utf8)
    }

    private static func read(_ path: Substring) throws -> [UInt8] {
        let isInput = path == "-"
        if path.isEmpty { throw ValidationError("--data: @ without a file; give @FILE, or @- for standard input") }
        return try ChecksumFile.read(isInput ? nil : String(path))
    }
}
