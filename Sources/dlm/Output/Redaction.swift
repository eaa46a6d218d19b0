import DownloadKit

/// The hiding of secrets in URLs, for messages, logs and the list of processes. URLs in data (`show`, `--json`) are not
/// changed, because users need the whole URLs to resume downloads.
enum Redaction {
    /// Returns the message of an error. If the error is about an invalid request, everything that looks like
    /// `user:password@` is also hidden.
    static func describe(_ error: DownloadError) -> String {
        let text = hidden(ErrorText.describe(error))
        guard case .requestInvalid = error else { return text }
        let bytes = Array(text.utf8)
        let logins = UserInformation.inWords(bytes)
        return logins.isEmpty ? text : UserInformation.hiding(logins, in: bytes)
    }

    /// Returns a text with the secrets in its URLs hidden: `scheme://user:secret@host?token=secret` becomes
    /// `scheme://***@host?token=***`. Works for malformed URLs, too.
    static func hidden(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let ranges = secrets(in: bytes)
        return ranges.isEmpty ? text : UserInformation.hiding(ranges, in: bytes)
    }

    /// Returns the ranges of user information in URLs, and of the values of parameters whose names suggest secrets.
    static func secrets(in text: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var rest = 0
        while let start = UserInformation.endOfMark(in: text, from: rest) {
            let end = text[start...].firstIndex { $0 <= 0x20 } ?? text.endIndex
            let path = text[start..<end].firstIndex { "/?#".utf8.contains($0) } ?? end
            if let at = text[start..<path].lastIndex(of: UInt8(ascii: "@")) { ranges.append(start..<at) }
            ranges += parameters(text[path..<end])
            rest = end
        }
        return ranges
    }

    private static func parameters(_ text: ArraySlice<UInt8>) -> [Range<Int>] {
        let isMark = { (byte: UInt8) in "?&;#".utf8.contains(byte) }
        guard let query = text.firstIndex(where: isMark) else { return [] }
        return text[query...].split(whereSeparator: isMark).compactMap { parameter in
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")),
                RequestHeader.isSecretName(String(decoding: parameter[..<equals], as: UTF8.self))
            else { return nil }
            // Punctuation after a URL in a sentence is not part of the URL.
            let end = parameter.lastIndex { !":,.".utf8.contains($0) } ?? equals
            return end > equals ? equals + 1..<end + 1 : nil
        }
    }
}
