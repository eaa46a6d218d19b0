import DownloadCore
import HTTPTypes

/// Collects the header lines of a response as libcurl delivers them; interim (1xx) heads are dropped, trailers ignored.
struct ResponseHeadParser {
    enum Step {
        case incomplete
        case head(ResponseHead)
        case tooLarge
    }

    private var head: ResponseHead?
    /// A field that the next line may continue.
    private var pending = ""
    private var size = 0
    /// The final head has come.
    private(set) var isDone = false

    /// All header lines of one response, as they came.
    static let sizeLimit = 256 << 10

    mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
        size += line.count
        if size > Self.sizeLimit { return .tooLarge }
        if isDone { return .incomplete }
        let text = Self.text(line)
        if head != nil, let first = text.utf8.first, Self.isSpace(first) {
            // A folded line counts as one space (RFC 9112 section 5.2).
            if !pending.isEmpty { pending += " " + text.drop { $0 == " " || $0 == "\t" } }
            return .incomplete
        }
        if let field = Self.field(pending) { head?.fields.append(field) }
        pending = ""
        if text.isEmpty {
            guard let complete = head, complete.status >= 200 else {
                head = nil
                return .incomplete
            }
            isDone = true
            return .head(complete)
        }
        if head == nil {
            head = Self.statusLine(text)
        } else {
            pending = text
        }
        return .incomplete
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// The line without its line break: UTF-8, or Latin-1 where it is no UTF-8 (RFC 9110 section 5.5).
    private static func text(_ line: UnsafeRawBufferPointer) -> String {
        var bytes = line[...]
        while let last = bytes.last, last == 13 || last == 10 { bytes.removeLast() }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var latin = ""
        latin.unicodeScalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
        return latin
    }

    private static func statusLine(_ text: String) -> ResponseHead {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
        return ResponseHead(
            status: parts.count > 1 ? Int(parts[1]) ?? 0 : 0,
            phrase: parts.count > 2 ? String(parts[2]) : "",
            httpVersion: "")
    }

    private static func field(_ text: String) -> HTTPField? {
        guard let colon = text.firstIndex(of: ":"), let name = HTTPField.Name(String(text[..<colon])) else {
            return nil
        }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        return HTTPField(name: name, value: String(value))
    }
}
