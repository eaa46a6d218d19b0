/// Every join of two parts is proved by bytes that are fetched twice (``Overlap``): a server may send the right
/// `Content-Range` and a strong ETag with bytes from another place of the file.
extension Fetch {
    /// Where digests of the pieces, or of the file, prove what several sources bring, joins are not compared: a difference
    /// would not tell which source was wrong, and a digest does.
    static func comparesOverlaps(_ attempt: Attempt) -> Bool {
        !attempt.transfers.sources.isShared || attempt.local.verifier == nil && attempt.record.expected == nil
    }

    var comparesOverlaps: Bool { Self.comparesOverlaps(attempt) }

    /// Returns the wanted range with the bytes before and behind it that are compared.
    func overlapping(_ range: Range<Int64>) -> Range<Int64> {
        let held = target.written
        // Within an attempt the neighbour was asked for the same version a moment ago.
        let size = attempt.validators.ifRange == nil ? Overlap.unproven : Overlap.joined
        return Overlap.startOfPart(
            before: range.lowerBound, held: held, size: size)..<Overlap.end(after: range.upperBound, held: held)
    }

    /// Remembers where an answer in part began and ended. An answer that contradicts itself makes the edges of all others
    /// doubtful: they are fetched again, and so compared with what lies between them. Pieces have digests for that.
    func checkEdges(of segment: SegmentWriter, upTo position: Int64) async {
        guard segment.isContradictory, attempt.local.verifier == nil else {
            if segment.head?.status == 206, position > segment.countedStart {
                answered.append(segment.countedStart..<position)
            }
            return
        }
        let coming = running.filter { $0.head?.status == 206 }.map(\.brought)
        await context.disk.afterWrites()
        let edges = Overlap.edges(of: answered + coming).intersection(target.written)
        let doubtful = attempt.local.inherited.missing(in: 0..<edges.end).intersection(edges)
        answered = []
        attempt.forget(doubtful)
        for range in doubtful.ranges { planner.restore(range) }
    }
}
