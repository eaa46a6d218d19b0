import DownloadCore

/// One of the connections of a fetch that was lost, or that was answered without the requested bytes. ``decision`` says
/// what follows. A refusal of one more connection is never the end of a download, because the other connections go on.
struct FailedConnection: Equatable {
    /// The kind of URL that the connection asked.
    enum Link: Equatable {
        case own
        /// A URL to which the source redirected. Bytes have come from this URL.
        case proved
        /// A URL to which the source redirected. No bytes have come from this URL yet.
        case unproved
    }

    enum Decision: Equatable {
        case end(SegmentPlanner.Ending)
        /// The source is asked again for a URL, because the URL to which it redirected may have expired.
        case renewLink
        /// The server serves no more connections than the others.
        case limit
        /// The whole file is requested without a range, because the server sends no usable parts.
        case requestWhole
        /// The source has failed. If the failure is not final, the source may be asked a few times more.
        case fail(isFinal: Bool)
    }

    let error: DownloadError
    /// Whether an answer came that was not the requested bytes.
    let isDeclined: Bool
    /// The status of the answer; nil if no head came.
    let status: Int?
    /// Whether the request brought enough new bytes to count as progress (``RequestBudget``).
    let hasProgressed: Bool
    /// Whether other connections with the same source run.
    let hasOthers: Bool
    /// Whether the rest may be requested again: the server sends parts, they may be joined, and the user wants retries.
    let mayAskAgain: Bool
    let isHTTP: Bool
    let link: Link

    var decision: Decision {
        if !isDeclined { return lost }
        if let status, status >= 400, status != 416 {
            if link == .proved, LinkExpiry.statusesOfRedirected.contains(status) { return .renewLink }
            if hasOthers { return .limit }
        } else if hasOthers {
            return .end(.unfit)
        }
        return error.isWrongRange || !isHTTP ? .requestWhole : .fail(isFinal: true)
    }

    private var lost: Decision {
        // If this machine's network has changed, the session decides when to go on.
        let isNetworkChange = if case .networkFailed(.networkChanged, _) = error { true } else { false }
        if hasProgressed, mayAskAgain && !isNetworkChange || hasOthers { return .end(.lost) }
        guard hasOthers else { return .fail(isFinal: false) }
        // The server ends a new connection, or does not accept it, while it serves others.
        return status == nil ? .limit : .end(.lost)
    }
}

extension DownloadError {
    /// Whether an answer had other bytes than the requested ones.
    var isWrongRange: Bool {
        if case .protocolViolated(.wrongRange) = self { true } else { false }
    }
}
