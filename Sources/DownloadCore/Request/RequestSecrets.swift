import CSystem
import Foundation

/// The secrets of a request. dlm hides them in text that servers send, because some servers repeat parts of the request
/// in their answers, and this text is stored, printed and logged.
package struct RequestSecrets {
    private let values: [String]

    /// The minimum length in bytes. Shorter values are not hidden, because other text often contains them.
    private static let shortest = 4

    /// - Parameter loaded: The secrets of the files that the request refers to.
    package init(_ request: DownloadRequest, _ loaded: LoadedSecrets) {
        var values = loaded.values
        values += request.headers.filter(\.isSecret).compactMap(\.value).flatMap(Self.parts)
        if let credential = request.credential, let password = credential.password {
            values += [password, Data("\(credential.user):\(password)".utf8).base64EncodedString()]
        }
        if let password = request.network.proxy?.credential?.password { values.append(password) }
        values += request.http.body?.bytes.map(Self.fields) ?? []
        self.values = Set(values.filter { $0.utf8.count >= Self.shortest }).sorted { $0.utf8.count > $1.utf8.count }
    }

    /// Returns the value, and the parts of values such as `Bearer TOKEN` and `name=value; name=value`. Names are not
    /// secrets.
    private static func parts(_ value: String) -> [String] {
        let words = value.split { " ;,\t".contains($0) }
        let ends = words.map { word in word.firstIndex(of: "=").map { word[word.index(after: $0)...] } ?? word }
        let schemes = ["basic", "bearer", "digest", "token"]
        return [value] + ends.map { String($0) }.filter { !schemes.contains($0.lowercased()) }
    }

    /// Returns the values of a form, each both encoded and decoded.
    private static func fields(_ body: [UInt8]) -> [String] {
        if body.count > longestForm { return [] }
        let values = body.split(separator: UInt8(ascii: "&")).map { field in
            field.firstIndex(of: UInt8(ascii: "=")).map { field[(field.index(after: $0))...] } ?? field
        }
        return values.flatMap { value in
            let text = String(decoding: value, as: UTF8.self)
            return [text, text.utf8.percentDecoded.map { String(decoding: $0, as: UTF8.self) } ?? text]
        }
    }

    /// The maximum size of a form in bytes. A larger body is treated as a file, which has no secrets to hide.
    private static let longestForm = 16 << 10

    /// Returns the text with `***` in place of each secret. The search for a secret takes linear time. Otherwise a
    /// server could choose a text and a cookie that make the search very slow.
    package func hidden(in text: String) -> String {
        values.reduce(text) { text, value in Self.hiding(Array(value.utf8), in: text) }
    }

    private static func hiding(_ value: [UInt8], in text: String) -> String {
        let bytes = Array(text.utf8)
        var places: [Range<Int>] = []
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while let base = bytes.baseAddress {
                let offset = dlm_find(base + start, bytes.count - start, value, value.count)
                if offset < 0 { break }
                places.append(start + Int(offset)..<start + Int(offset) + value.count)
                start += Int(offset) + value.count
            }
        }
        return places.isEmpty ? text : UserInformation.hiding(places, in: bytes)
    }

    /// Returns whether the URL contains a secret, plainly or percent-encoded.
    package func occur(in url: SourceURL) -> Bool {
        if values.isEmpty { return false }
        let decoded = url.string.utf8.percentDecoded.map { String(decoding: $0, as: UTF8.self) }
        return [url.string, decoded ?? ""].contains { hidden(in: $0) != $0 }
    }
}

extension DownloadError {
    /// Returns the same error with these secrets hidden in the text that the server sent.
    package func hiding(_ secrets: RequestSecrets) -> DownloadError {
        let hide = secrets.hidden
        return switch self {
        case .serverRefused(let status, let phrase): .serverRefused(status: status, phrase: hide(phrase))
        case .protocolViolated(.redirectRefused(let what)): .protocolViolated(.redirectRefused(hide(what)))
        case .protocolViolated(.wrongRange(let what)): .protocolViolated(.wrongRange(hide(what)))
        case .protocolViolated(.malformedReply(let what)): .protocolViolated(.malformedReply(hide(what)))
        case .protocolViolated(.badMetalink(let what)): .protocolViolated(.badMetalink(hide(what)))
        case .verificationFailed(.changed(let why)): .verificationFailed(.changed(hide(why)))
        case .verificationFailed(.otherFile(let why)): .verificationFailed(.otherFile(hide(why)))
        case .verificationFailed(.otherMirror(let why)): .verificationFailed(.otherMirror(hide(why)))
        case .verificationFailed(.unexpectedType(let was, let now)):
            .verificationFailed(.unexpectedType(was: hide(was), is: hide(now)))
        case .verificationFailed(.unwantedType(let wanted, let now)):
            .verificationFailed(.unwantedType(wanted: wanted, is: now.map(hide)))
        case .verificationFailed(.unwantedStatus(let wanted, let now)):
            .verificationFailed(.unwantedStatus(wanted: wanted, is: hide(now)))
        case .verificationFailed(.notItsBeginning(let path, let why)):
            .verificationFailed(.notItsBeginning(path: path, why: hide(why)))
        case .verificationFailed(.streamBroken(let why)): .verificationFailed(.streamBroken(hide(why)))
        case .unexpected(let message): .unexpected(hide(message))
        case .requestInvalid, .fileFailed, .networkFailed, .trustFailed, .authenticationFailed, .completedFile,
            .protocolViolated(.tooManyRedirects), .protocolViolated(.redirectWithoutLocation),
            .verificationFailed(.checksum), .verificationFailed(.size), .verificationFailed(.serverDigest),
            .verificationFailed(.unverifiable), .verificationFailed(.endUnproved), .verificationFailed(.tooLarge),
            .verificationFailed(.wrongPieces), .verificationFailed(.olderList), .verificationFailed(.otherSigner),
            .noSuchDownload, .cancelled, .sessionUnavailable:
            self
        }
    }
}
