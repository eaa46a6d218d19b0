import Foundation

/// The URL schemes that dlm supports.
package enum SourceScheme: String, CaseIterable, Sendable {
    case http, https, ftp, ftps, sftp, scp, file

    package var port: Int {
        switch self {
        case .http: 80
        case .https: 443
        case .ftp: 21
        case .ftps: 990
        case .sftp, .scp: 22
        case .file: 0
        }
    }

    package var isHTTP: Bool { self == .http || self == .https }
    package var isFTP: Bool { self == .ftp || self == .ftps }
    package var isSSH: Bool { self == .sftp || self == .scp }

    package static let names = allCases.map(\.rawValue)

    /// Returns the text after `scheme://`, changed so that a URL parser reads the whole path. In all schemes but http
    /// and https, `?` and `#` belong to the file's name. Nil if the URL asks for something other than the bytes of a
    /// file.
    func rewritten(_ text: Substring) -> String? {
        if isHTTP { return String(text) }
        var text = text
        if isFTP, let type = text.range(of: ";type=", options: .backwards) {
            // Text mode (`;type=a`) would change the bytes, and a directory listing (`;type=d`) is not a file (RFC 1738
            // section 3.2.2).
            guard text[type.upperBound...].lowercased() == "i" else { return nil }
            text = text[..<type.lowerBound]
        }
        return String(text).replacing("?", with: "%3F").replacing("#", with: "%23")
    }

    /// Returns whether the decoded path has control characters, which could end a line of the protocol or the name.
    /// Also returns true if the path cannot be decoded.
    static func hasControls(_ path: String) -> Bool {
        path.utf8.percentDecoded?.contains { $0 < 0x20 || $0 == 0x7F } ?? true
    }
}
