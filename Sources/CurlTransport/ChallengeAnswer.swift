import DownloadCore
import HTTPTypes

/// Decides how a name and password are shown where the user has not said how. They go with the first request as they
/// are (Basic). If the server then asks for Digest (RFC 7616), they are shown once more, as a digest: browsers do the
/// same. A server that is known to ask for Digest is shown nothing else.
struct ChallengeAnswer: Sendable, Equatable {
    private(set) var usesDigest: Bool
    private var hasTurned = false

    /// Returns nil where there is nothing to decide.
    /// - Parameter asksForDigest: whether an earlier answer of the origin asked for Digest.
    init?(_ request: TransferRequest, asksForDigest: () -> Bool) {
        guard let credential = request.credential, !credential.user.isEmpty, request.authentication == nil,
            request.signature == nil, request.url.isHTTP, request.unixSocket == nil
        else { return nil }
        usesDigest = asksForDigest()
    }

    /// Handles a final answer. Returns true, at most once, if the request is to be made again in the other way.
    mutating func turns(at head: ResponseHead) -> Bool {
        guard head.status == 401, !hasTurned else { return false }
        let offered = Challenge.schemes(head)
        guard usesDigest ? !offered.contains("digest") && offered.contains("basic") : offered.contains("digest") else {
            return false
        }
        usesDigest.toggle()
        hasTurned = true
        return true
    }
}

/// What a server asks for with a 401 (RFC 9110 section 11.6.1).
enum Challenge {
    /// The schemes of all challenges, in lower case.
    static func schemes(_ head: ResponseHead) -> [String] {
        head.fields.values(.wwwAuthenticate).flatMap { value in
            withoutQuotedText(value).split(separator: UInt8(ascii: ",")).compactMap { part in
                let words = part.split(separator: UInt8(ascii: " "), maxSplits: 2)
                // A parameter, not the beginning of a challenge.
                guard let first = words.first, !first.contains(UInt8(ascii: "=")),
                    words.count < 2 || words[1].first != UInt8(ascii: "=")
                else { return nil }
                return String(decoding: first, as: UTF8.self).lowercased()
            }
        }
    }

    /// The connection itself is being proved (NTLM, Negotiate): the next request must go over it.
    static func isOfConnection(_ head: ResponseHead) -> Bool {
        head.fields.values(.wwwAuthenticate).contains { value in
            let words = value.lowercased().split(separator: " ")
            return words.count > 1 && (words[0] == "ntlm" || words[0] == "negotiate")
        }
    }

    private static func withoutQuotedText(_ value: String) -> [UInt8] {
        var (isQuoted, isEscaped) = (false, false)
        return value.utf8.filter { byte in
            if isEscaped {
                isEscaped = false
                return false
            }
            switch byte {
            case UInt8(ascii: "\""):
                isQuoted.toggle()
                return false
            case UInt8(ascii: "\\") where isQuoted:
                isEscaped = true
                return false
            default: return !isQuoted
            }
        }
    }
}
