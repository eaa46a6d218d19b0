import DownloadCore

/// The first answer in an attempt whose body is the file, or a part of the file: its beginning, or the first missing
/// range of a resumed download. It is a class, so that the frames of async functions have only a reference
/// (``AttemptPhase``).
final class ProbeAnswer {
    let segment: SegmentWriter
    let head: ResponseHead
    let route: RequestRoute
    /// The result of the transfer; nil while it runs.
    var result: TransferResult?

    init(segment: SegmentWriter, head: ResponseHead, route: RequestRoute, result: TransferResult? = nil) {
        self.segment = segment
        self.head = head
        self.route = route
        self.result = result
    }

    var url: SourceURL { route.url }

    /// The message that the transfer has ended; nil while it runs.
    var endMessage: AttemptControl.Message? {
        @inline(never) get { result.map { .segmentFinished(segment, $0) } }
    }

    /// Whether the answer is the whole file and all of it has come.
    var isWhole: Bool {
        guard result?.ending == .complete, segment.unfinished?.isEmpty == true else { return false }
        switch segment.verdict {
        case .body(offset: 0, let end, let total): return end == total
        case .newVersion: return true
        default: return false
        }
    }
}

extension ResponseJudge.Verdict {
    /// The size of the file, if the answer has bytes of the file and states the size.
    var total: Int64? {
        switch self {
        case .body(_, _, let total), .newVersion(let total, _): total
        default: nil
        }
    }
}
