import DownloadCore
import Foundation

/// The result of the check of one signature, by a program or by dlm.
package enum SignatureFinding: Sendable, Equatable {
    /// The signatures of the bytes are good. There is at least one.
    case good([Signer])
    /// The signature proves nothing. The text continues a sentence about its document.
    case bad(String)

    // MARK: OpenPGP

    /// The digests that a signature may use (RFC 9580, section 9.5): SHA-2 and SHA-3. MD5 and SHA-1 can be forged.
    private static let digests: Set<Substring> = ["8", "9", "10", "11", "12", "14"]

    /// Reads the status lines of gpgv (GnuPG, doc/DETAILS). Each signature begins with NEWSIG. VALIDSIG alone is not
    /// enough, because gpgv prints it also for an expired or revoked key.
    /// - Parameters:
    ///   - code: The exit status, which is 0 only if all signatures are good.
    ///   - fingerprint: The fingerprint of the only key that counts, or of its primary key; nil for any key.
    ///   - isDetached: Whether the signature is beside the signed bytes. Then a signature of text does not count: it
    ///     covers neither the ends of lines nor all bytes of a long line.
    package init(gpgv status: String, _ code: Int32, fingerprint: String?, isDetached: Bool) {
        var (other, problem): (String?, String?)
        var (signers, isGood): ([Signer], Bool) = ([], false)
        for line in status.split(separator: "\n") where line.hasPrefix("[GNUPG:] ") {
            let words = line.split(separator: " ").dropFirst()
            guard let what = words.first else { continue }
            let values = Array(words.dropFirst())
            switch what {
            case "NEWSIG": isGood = false
            case "GOODSIG": isGood = true
            case "VALIDSIG" where isGood && values.count >= 10:
                guard Self.digests.contains(values[7]) else {
                    problem = problem ?? "uses a digest that can be forged"
                    continue
                }
                // Other classes than bytes (00) and text (01) are of signatures of keys (section 5.2.1).
                guard Self.counts(values[8], isDetached) else {
                    problem = problem ?? "is a signature of text, not of the bytes of a file"
                    continue
                }
                let counts = fingerprint.map { $0 == values[0] || $0 == values[9] } ?? true
                if counts {
                    signers.append(Signer(key: String(values[9]), time: Self.time(values[2])))
                } else {
                    other = String(values[0])
                }
            // The signature of a stranger beside the publisher's proves nothing, and does no harm.
            case "ERRSIG" where values.count >= 6 && values[5] == "9": isGood = false
            default: if let bad = Self.problems[String(what)] { problem = bad(values.first) }
            }
        }
        let hasStranger = status.contains("\n[GNUPG:] NO_PUBKEY ")
        if let problem {
            self = .bad(problem)
        } else if !signers.isEmpty {
            self = code == 0 || hasStranger ? .good(signers) : .bad("cannot be checked")
        } else if let other {
            self = .bad("was made by another key, \(other)")
        } else {
            self = .bad(hasStranger ? "was made by another key" : "is no signature")
        }
    }

    private static func counts(_ kind: Substring, _ isDetached: Bool) -> Bool {
        kind == "00" || kind == "01" && !isDetached
    }

    /// Reads a time in seconds since 1970, or of the form `20200101T000000` in UTC (GnuPG, doc/DETAILS).
    private static func time(_ text: Substring) -> Date? {
        if let seconds = Int64(text) { return Date(timeIntervalSince1970: Double(seconds)) }
        return try? Date(
            text + "Z", strategy: Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
    }

    private static let problems: [String: @Sendable (Substring?) -> String] = [
        "BADSIG": { _ in "is a signature of other bytes" },
        "EXPSIG": { _ in "has expired" },
        "EXPKEYSIG": { "was made by the key \($0 ?? ""), which has expired" },
        "REVKEYSIG": { "was made by the key \($0 ?? ""), which was revoked" },
        "ERRSIG": { _ in "cannot be checked" },
        "NODATA": { _ in "is no signature" },
        "ERROR": { _ in "cannot be read" },
        "FAILURE": { _ in "cannot be read" },
    ]
}
