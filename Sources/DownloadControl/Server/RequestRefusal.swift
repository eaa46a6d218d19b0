import DownloadCore

/// The reason why a request is refused before it is handled.
enum RequestRefusal {
    case malformed, headTooLarge, bodyTooLarge, tooSlow, unknownCoding

    var answer: ControlAnswer {
        switch self {
        case .malformed: WireError.answer(400, "the request is not HTTP/1.1")
        case .headTooLarge: WireError.answer(431, "the head of the request is too large")
        case .bodyTooLarge: WireError.answer(413, "the body of the request is too large")
        case .tooSlow: WireError.answer(408, "the request did not arrive in time")
        // RFC 9112 section 6.1.
        case .unknownCoding: WireError.answer(501, "the only transfer coding is chunked")
        }
    }
}
