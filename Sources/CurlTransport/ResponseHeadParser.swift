import DownloadCore
import Glibc
import HTTPTypes

/// A parser for the header lines of a response, as libcurl delivers them. Interim (1xx) heads are dropped. The parser
/// works on bytes: with characters, parsing took a third of an engine's time for a small file.
struct ResponseHeadParser {
    enum Step {
        case incomplete
        case head(ResponseHead)
        case tooLarge
    }

    private let last: LastHead
    /// The status code of the status line; nil before the status line.
    private var status: Int?
    private var phrase = ""
    /// The fields so far. The fields from index `count` on are left over from the last head.
    private var fields = HTTPFields()
    /// The lines that the fields came in.
    private var lines: [[UInt8]] = []
    private var count = 0
    /// Whether the next line may continue the last field.
    private var isContinuable = false
    /// The text that folded lines add to the last field. The text is kept apart until all folded lines have come,
    /// because adding each line to the field would copy the whole field each time.
    private var folded = ""
    private var size = 0
    /// Whether the final head has come.
    private(set) var isDone = false
    /// The fields that came after the body; nil if there were none.
    private(set) var trailers: HTTPFields?

    /// The limit for all header lines of one transfer, in bytes. Interim heads and trailers count too.
    static let sizeLimit = 256 << 10
    /// The limit for the fields after the body. Further fields are ignored.
    private static let mostTrailers = 64

    init(after last: LastHead = LastHead()) { self.last = last }

    /// Discards what has come, for the head of another response.
    mutating func beginAgain() { self = ResponseHeadParser(after: last) }

    mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
        size += line.count
        if size > Self.sizeLimit { return .tooLarge }
        let line = Self.trimmed(line)
        if isDone {
            takeTrailer(line)
            return .incomplete
        }
        guard let first = line.first else { return endOfHead() }
        if status == nil {
            takeStatus(line)
        } else if Self.isSpace(first) {
            // The line break and the leading spaces of a folded line count as one space (RFC 9112 section 5.2).
            guard isContinuable else { return .incomplete }
            folded += " " + Self.text(Self.withoutSpaces(line), of: line)
            lines[count - 1] = []
        } else {
            unfold()
            isContinuable = takeField(line)
        }
        return .incomplete
    }

    private mutating func takeTrailer(_ line: UnsafeRawBufferPointer) {
        guard trailers?.count ?? 0 < Self.mostTrailers, let field = Self.field(line) else { return }
        if trailers == nil { trailers = HTTPFields() }
        trailers?.append(field)
    }

    /// Adds the text of the folded lines to the last field.
    private mutating func unfold() {
        if folded.isEmpty { return }
        fields[count - 1].value += folded
        folded = ""
    }

    private mutating func endOfHead() -> Step {
        unfold()
        fields.removeLast(fields.count - count)
        lines.removeLast(lines.count - count)
        defer {
            status = nil
            lines = []
            count = 0
            isContinuable = false
        }
        guard let status, status >= 200 else { return .incomplete }
        last.fields = fields
        last.lines = lines
        isDone = true
        return .head(ResponseHead(status: status, phrase: phrase, httpVersion: "", fields: fields))
    }

    private mutating func takeStatus(_ line: UnsafeRawBufferPointer) {
        fields = last.fields
        lines = last.lines
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") }
        let code = line.drop { !isSpace($0) }.drop(while: isSpace)
        let number = UnsafeRawBufferPointer(rebasing: code.prefix { !isSpace($0) })
        let rest = UnsafeRawBufferPointer(rebasing: code.dropFirst(number.count).drop(while: isSpace))
        // A status has three digits (RFC 9110 section 15). libcurl 8.14 accepts more.
        status = number.count == 3 ? Int(Self.text(number, of: line)) ?? 0 : 0
        phrase = Self.text(rest, of: line)
    }

    /// Adds the field in a header line. Returns false if the line is not a field.
    private mutating func takeField(_ line: UnsafeRawBufferPointer) -> Bool {
        if count < lines.count, Self.isSame(lines[count], line) {
            count += 1
            return true
        }
        guard let field = Self.field(line) else { return false }
        if count < lines.count {
            fields[count] = field
            lines[count] = Array(line)
        } else {
            fields.append(field)
            lines.append(Array(line))
        }
        count += 1
        return true
    }

    private static func isSame(_ line: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
        guard line.count == other.count, let start = other.baseAddress else { return false }
        return line.withUnsafeBytes { memcmp(start, $0.baseAddress ?? start, $0.count) == 0 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func withoutSpaces(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.drop(while: isSpace))
    }

    /// Returns the line without its line break.
    private static func trimmed(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var count = line.count
        while count > 0, line[count - 1] == 13 || line[count - 1] == 10 { count -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[..<count])
    }

    /// Returns the bytes as text: as UTF-8, or as Latin-1 if the line is not UTF-8 (RFC 9110 section 5.5).
    private static func text(_ bytes: UnsafeRawBufferPointer, of line: UnsafeRawBufferPointer) -> String {
        let isASCII = bytes.allSatisfy { $0 < 128 }
        if isASCII || String(validating: line, as: UTF8.self) != nil { return String(decoding: bytes, as: UTF8.self) }
        var latin = ""
        latin.unicodeScalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
        return latin
    }

    private static func field(_ line: UnsafeRawBufferPointer) -> HTTPField? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(text(UnsafeRawBufferPointer(rebasing: line[..<colon]), of: line))
        else { return nil }
        let value = withoutSpaces(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
        if holdsURL(name), String(validating: line, as: UTF8.self) == nil {
            let host = authority(value)
            let rest = UnsafeRawBufferPointer(rebasing: value[host.count...])
            // A server that writes a path in Latin-1 knows its file by these bytes. Read as text and sent as UTF-8, they
            // would name another file.
            return HTTPField(name: name, value: text(host, of: line) + rest.percentEncoded { $0 < 128 })
        }
        return HTTPField(name: name, value: text(value, of: line))
    }

    private static func holdsURL(_ name: HTTPField.Name) -> Bool {
        name == .location || name.canonicalName == "link" || name.canonicalName == "content-location"
    }

    /// Returns everything before the path of an absolute URL. A host is a name to look up, so its bytes are not
    /// percent-encoded.
    private static func authority(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        func part(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<count]) }
        let isEnd = { (byte: UInt8) in "/?#".utf8.contains(byte) }
        guard let first = bytes.firstIndex(where: isEnd), bytes[first...].starts(with: "//".utf8) else {
            return part(0)
        }
        return part(bytes[(first + 2)...].firstIndex(where: isEnd) ?? bytes.count)
    }
}

/// The fields of the previous head, with their lines. A server sends most fields in every response, in the same
/// order, and parsing them again is expensive. Engine thread only.
final class LastHead {
    var fields = HTTPFields()
    var lines: [[UInt8]] = []
}
