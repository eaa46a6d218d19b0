import DownloadCore
import HTTPTypes

/// The reader of the heads of a transfer's responses. libcurl may answer a challenge (401) itself, so the head of a
/// challenge is kept until the body or the end of the transfer follows.
struct HeadReader {
    enum Step {
        case incomplete
        case tooLarge
        /// The request must be sent again, with the other authentication scheme.
        case sendAgain
        /// A challenge that libcurl may answer itself, with another request.
        case challenge(ResponseHead)
        case final(ResponseHead)
    }

    private var parser: ResponseHeadParser
    private var challenge: ResponseHead? { didSet { updateIsPlain() } }
    /// Whether a challenge was presented to the sink, so that a body may follow.
    private var isPresented = false
    /// The choice between Basic and Digest; nil if the request states the scheme, or has no name and password.
    var answer: ChallengeAnswer? { didSet { updateIsPlain() } }
    /// Whether the reader keeps nothing for authentication: neither a challenge nor a choice of the scheme. It is
    /// stored, because comparing the challenge with nil copies the whole reader.
    private(set) var isPlain = true

    init(after last: LastHead) { parser = ResponseHeadParser(after: last) }

    /// Whether a body may follow.
    var isDone: Bool { parser.isDone || isPresented }

    /// The fields that came after the body; nil if there were none.
    var trailers: HTTPFields? { parser.trailers }

    /// Handles a header line of a response to the request.
    mutating func take(_ line: UnsafeRawBufferPointer, of request: TransferRequest) -> Step {
        switch parser.take(line) {
        case .incomplete: return .incomplete
        case .tooLarge: return .tooLarge
        case .head(let head):
            if !isPlain, answer?.turns(at: head) == true { return .sendAgain }
            guard isAnswered(head, request) else {
                if !isPlain { challenge = nil }
                return .final(head)
            }
            challenge = head
            parser.beginAgain()
            return .challenge(head)
        }
    }

    /// Returns whether libcurl may answer the challenge itself, with another request. If libcurl does not, a body or
    /// the end of the transfer follows.
    private func isAnswered(_ head: ResponseHead, _ request: TransferRequest) -> Bool {
        guard head.status == 401, request.options.credential != nil else { return false }
        return (request.options.authentication ?? (answer?.usesDigest == true ? .digest : .basic)) != .basic
    }

    /// Returns the challenge that libcurl did not answer, and forgets the challenge. Returns nil if there is none.
    mutating func takeChallenge() -> ResponseHead? {
        guard let challenge else { return nil }
        self.challenge = nil
        isPresented = true
        return challenge
    }

    private mutating func updateIsPlain() { isPlain = answer == nil && challenge == nil }

    /// Discards the heads, so that the transfer can start again. The choice of the scheme is kept.
    mutating func beginAgain() {
        (challenge, isPresented) = (nil, false)
        parser.beginAgain()
    }
}
