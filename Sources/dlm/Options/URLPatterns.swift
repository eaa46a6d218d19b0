import ArgumentParser
import DownloadKit

/// The patterns in URLs, with curl's syntax: `[001-100]`, `[a-z]`, `[0-9:3]` and `{a,b}`. Other brackets and braces, as
/// in `?id[]=3` or `http://[::1]/`, are ordinary characters. So is a bracket or brace after a backslash.
struct URLPatterns {
    /// One of the URLs that a URL with patterns expands to, and the value that it has for each pattern.
    struct Expanded: Equatable {
        let url: String
        let values: [String]
    }

    /// Whether brackets and braces are ordinary characters (`--no-glob`).
    let isLiteral: Bool

    /// The most URLs to which the patterns of one command line may expand. A larger number is probably a typing
    /// mistake.
    static let largest = 100_000

    func count(in urls: [String]) throws(ValidationError) -> Int {
        guard !isLiteral, urls.contains(where: Self.mayHavePattern) else { return urls.count }
        var count = 0
        for url in urls {
            let pattern = URLPattern(url)
            count += pattern.count
            if pattern.isTooLarge || count > Self.largest {
                throw ValidationError("\(url): expands to more than \(Self.largest) URLs; give fewer, or --no-glob")
            }
        }
        return count
    }

    /// Expands the patterns, and returns the resulting URLs in order. The last pattern of a URL changes fastest.
    func expanded(_ urls: [String]) throws(ValidationError) -> [Expanded] {
        guard !isLiteral, urls.contains(where: Self.mayHavePattern) else {
            return urls.map { Expanded(url: $0, values: []) }
        }
        _ = try count(in: urls)
        return urls.flatMap { URLPattern($0).expanded }
    }

    /// Returns whether a file name has a placeholder for the value of a pattern, such as `#1`.
    static func hasPlace(_ name: String) -> Bool { name.firstMatch(of: /#[0-9]/) != nil }

    /// Returns the name with the value of a pattern in the place of each placeholder. A placeholder whose number
    /// belongs to no pattern is not changed.
    static func filled(_ name: String, _ values: [String]) -> String {
        name.replacing(/#([0-9]+)/) { match in
            guard let number = Int(match.1), values.indices.contains(number - 1) else { return String(match.0) }
            return values[number - 1].replacing("/", with: "_")
        }
    }

    private static func mayHavePattern(_ url: String) -> Bool { url.utf8.contains { "[{\\".utf8.contains($0) } }
}

/// One URL, divided into text and patterns.
struct URLPattern: Equatable {
    private enum Part: Equatable {
        case text(String)
        case choice([String])
    }

    private let parts: [Part]
    /// The number of URLs to which the pattern expands. If ``isTooLarge`` is true, the real number may be greater.
    private(set) var count = 1
    /// Whether the pattern expands to more URLs than one command line may have. If so, the rest of the text was not
    /// read.
    var isTooLarge: Bool { count > URLPatterns.largest }

    /// A range of numbers is cut off after this many values. This is one more than allowed, so that the excess is
    /// noticed.
    private static let longest = URLPatterns.largest + 1

    init(_ url: String) {
        var parts: [Part] = []
        var text = ""
        var rest = url[...]
        while let character = rest.first, count <= URLPatterns.largest {
            if character == "\\", let next = rest.dropFirst().first, "[]{}".contains(next) {
                text.append(next)
                rest = rest.dropFirst(2)
            } else if let (values, end) = Self.choice(rest) {
                if !text.isEmpty { parts.append(.text(text)) }
                parts.append(.choice(values))
                count *= values.count
                (text, rest) = ("", rest[end...])
            } else {
                text.append(character)
                rest = rest.dropFirst()
            }
        }
        if !text.isEmpty || parts.isEmpty { parts.append(.text(text)) }
        self.parts = parts
    }

    var expanded: [URLPatterns.Expanded] {
        var all = [URLPatterns.Expanded(url: "", values: [])]
        for part in parts {
            switch part {
            case .text(let text): all = all.map { URLPatterns.Expanded(url: $0.url + text, values: $0.values) }
            case .choice(let values):
                all = all.flatMap { one in
                    values.map { URLPatterns.Expanded(url: one.url + $0, values: one.values + [$0]) }
                }
            }
        }
        return all
    }

    /// Returns the values of the pattern at the beginning of the text and the index after the pattern. Returns nil if
    /// the text does not begin with a pattern.
    private static func choice(_ text: Substring) -> ([String], String.Index)? {
        guard let first = text.first, first == "{" || first == "[" else { return nil }
        let closing: Character = first == "{" ? "}" : "]"
        guard let end = text.dropFirst().firstIndex(where: { $0 == first || $0 == closing }), text[end] == closing
        else { return nil }
        let inside = text[text.index(after: text.startIndex)..<end]
        guard let values = first == "{" ? words(inside) : range(inside) else { return nil }
        return (values, text.index(after: end))
    }

    private static func words(_ text: Substring) -> [String]? {
        guard text.contains(",") else { return nil }
        return text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    }

    private static func range(_ text: Substring) -> [String]? {
        guard let match = text.wholeMatch(of: /([0-9]{1,18})-([0-9]{1,18})(?::([0-9]{1,9}))?/) else {
            return letters(text)
        }
        guard let first = Int(match.1), let last = Int(match.2), let step = match.3.map({ Int($0) }) ?? 1,
            first <= last, step > 0
        else { return nil }
        let width = match.1.first == "0" ? match.1.count : 0
        return stride(from: first, through: last, by: step).prefix(longest).map { $0.padded(width) }
    }

    private static func letters(_ text: Substring) -> [String]? {
        guard let match = text.wholeMatch(of: /([a-z])-([a-z])(?::([0-9]{1,2}))?|([A-Z])-([A-Z])(?::([0-9]{1,2}))?/),
            let first = (match.1 ?? match.4)?.utf8.first, let last = (match.2 ?? match.5)?.utf8.first,
            let step = (match.3 ?? match.6).map({ Int($0) }) ?? 1, first <= last, step > 0
        else { return nil }
        return stride(from: Int(first), through: Int(last), by: step).map { String(UnicodeScalar(UInt8($0))) }
    }
}
