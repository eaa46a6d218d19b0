import DownloadCore
import HTTPTypes

/// The choice between Basic and Digest for a name and password, if the user has not chosen. The first request sends
/// the name and password with Basic. If the server then asks for Digest (RFC 7616), the request is sent once more
/// with Digest, as browsers do. An origin that is known to ask for Digest gets Digest at once. If such an origin asks
/// for Basic and not for Digest, the request is sent once more with Basic.
struct ChallengeAnswer: Sendable, Equatable {
    private(set) var usesDigest: Bool
    private var hasTurned = false

    /// Returns nil if there is nothing to choose.
    /// - Parameter asksForDigest: whether an earlier response of the origin asked for Digest.
    init?(_ request: TransferRequest, asksForDigest: () -> Bool) {
        guard let credential = request.options.credential, !credential.user.isEmpty,
            request.options.authentication == nil,
            request.options.signature == nil, request.url.isHTTP, request.options.unixSocket == nil
        else { return nil }
        usesDigest = asksForDigest()
    }

    /// Handles the head of a final response. Returns true, at most once, if the request must be sent again with the
    /// other scheme.
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

/// The challenges of a 401 response (RFC 9110 section 11.6.1).
enum Challenge {
    /// Returns the authentication schemes of all challenges, in lower case.
    static func schemes(_ head: ResponseHead) -> [String] {
        head.fields.values(.wwwAuthenticate).flatMap { value in
            withoutQuotedText(value).split(separator: UInt8(ascii: ",")).compactMap { part in
                let words = part.split(separator: UInt8(ascii: " "), maxSplits: 2)
                // A part with `=` is a parameter, not the beginning of a challenge.
                guard let first = words.first, !first.contains(UInt8(ascii: "=")),
                    words.count < 2 || words[1].first != UInt8(ascii: "=")
                else { return nil }
                return String(decoding: first, as: UTF8.self).lowercased()
            }
        }
    }

    /// Returns whether a challenge continues the authentication of the connection itself (NTLM, Negotiate). The next
    /// request must then use the same connection.
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
