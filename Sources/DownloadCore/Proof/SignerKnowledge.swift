import Foundation

/// The maker of a good signature, and the time at which it was made.
package struct Signer: Sendable, Equatable {
    /// The fingerprint of the primary OpenPGP key, or the number of the other key, in hexadecimal.
    package let key: String
    /// When the signature was made, which is a part of what is signed. Nil if the format has no time (signify).
    package let time: Date?

    package init(key: String, time: Date?) { (self.key, self.time) = (key, time) }
}

/// The knowledge of a store about the good signatures in a folder of a server. So an older list and another key are
/// refused.
package struct SignerKnowledge: ServerKnowledge, Equatable {
    /// The only key that counts in the folder (``DownloadRequest/trustsFirstUse``), and since when.
    package struct Pin: Codable, Sendable, Equatable {
        package let key: String
        package let since: Date

        package init(key: String, since: Date) { (self.key, self.since) = (key, since) }
    }

    package var pin: Pin?
    /// When the list that was accepted last was signed, whatever its name and key.
    package var listed: Date?
    package var learned: Date

    package static let kind = "signer"
    package static let lifetime = Double.infinity
    package static let mostKept = 5000
    /// The seconds by which the clock of a publisher may be ahead. Later times are not remembered, because no later
    /// list would be accepted until then.
    private static let clockError = 24.0 * 3600

    package init(pin: Pin? = nil, listed: Date? = nil, learned: Date) {
        (self.pin, self.listed, self.learned) = (pin, listed, learned)
    }

    package var isBelievable: Bool { listed.map { $0 <= learned + Self.clockError } ?? true }

    /// The rules of a request about signers.
    package struct Rules: Sendable {
        let allowsRollback: Bool
        let trustsFirstUse: Bool
        /// Whether the request permits one key only, and not for example a keyring.
        let isKeyChosen: Bool

        package init(_ request: DownloadRequest, isKeyChosen: Bool) {
            (allowsRollback, trustsFirstUse) = (request.allowsRollback, request.trustsFirstUse)
            self.isKeyChosen = isKeyChosen
        }
    }

    /// The signer that counts, and what is to be remembered; nil if it is known.
    package struct Acceptance: Sendable, Equatable {
        package let signer: Signer
        package let knowledge: SignerKnowledge?
    }
    package typealias Verdict = Result<Acceptance, DownloadError>

    /// Decides whether a document with good signatures is accepted.
    /// - Parameters:
    ///   - document: The URL of the document.
    ///   - isList: Whether the document is a list, of which only newer ones count. A single file may be an older one.
    package static func verdict(
        on signers: [Signer], of document: String, isList: Bool, _ rules: Rules, known: SignerKnowledge?, at now: Date
    ) -> Verdict {
        var knowledge = known ?? SignerKnowledge(learned: now)
        guard let signer = signers.first(where: { $0.key == knowledge.pin?.key }) ?? signers.first else {
            return .failure(.unproved)
        }
        if knowledge.pin?.key != signer.key {
            if let pin = knowledge.pin, !rules.isKeyChosen {
                return .failure(
                    .verificationFailed(
                        .otherSigner(document: document, key: signer.key, pinned: pin.key, since: pin.since)))
            }
            if rules.trustsFirstUse { knowledge.pin = Pin(key: signer.key, since: now) }
        }
        if isList, let time = signer.time {
            if let seen = knowledge.listed, time < seen, !rules.allowsRollback {
                return .failure(.verificationFailed(.olderList(document: document, signed: time, seen: seen)))
            }
            if time <= now + clockError { knowledge.listed = time }
        }
        if knowledge == known || known == nil && knowledge.pin == nil && knowledge.listed == nil {
            return .success(Acceptance(signer: signer, knowledge: nil))
        }
        knowledge.learned = max(knowledge.learned, now)
        return .success(Acceptance(signer: signer, knowledge: knowledge))
    }
}
