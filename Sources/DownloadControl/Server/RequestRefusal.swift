/// The answers to requests that are refused before they are handled.
extension ControlAnswer {
    static let malformed = WireError.answer(400, "the request is not HTTP/1.1")
    static let headTooLarge = WireError.answer(431, "the head of the request is too large")
    static let bodyTooLarge = WireError.answer(413, "the body of the request is too large")
    static let tooSlow = WireError.answer(408, "the request did not arrive in time")
    // RFC 9112 section 6.1.
    static let unknownCoding = WireError.answer(501, "the only transfer coding is chunked")
}
