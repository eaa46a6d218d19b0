import DownloadCore

/// Checks of the joins of parts. Every join is proved by bytes that are fetched twice (``Overlap``). A server may send
/// the right `Content-Range` and a strong ETag with bytes from another place of the file.
extension Fetch {
    /// Returns the range extended by the bytes before and after it that are compared.
    func overlapping(_ range: Range<Int64>) -> Range<Int64> {
        let held = target.written
        // With a validator, a small overlap is enough, because the neighbouring part was requested with the same
        // validator a moment ago. Without one, only a large overlap distinguishes two versions.
        let size = attempt.validators.ifRange == nil ? Overlap.unproven : Overlap.joined
        return Overlap.startOfPart(
            before: range.lowerBound, held: held, size: size)..<Overlap.end(after: range.upperBound, held: held)
    }

    /// Records the range of an ended 206 answer. If the answer is wrong about its range or its length, the edges of all
    /// other answers are doubtful too. The edges are fetched again, and the overlap checks then compare the bytes next
    /// to them as well. This is not needed if digests of the pieces are known. Edges that the reader of a stream has
    /// taken cannot be fetched again, so the rest of a stream comes over one connection.
    func checkEdges(of segment: SegmentWriter, upTo position: Int64) async throws(RoundEnd) {
        guard segment.isContradictory, attempt.local.verifier == nil else {
            if segment.head?.status == 206, position > segment.countedStart {
                answered.append(segment.countedStart..<position)
            }
            return
        }
        if target.isSpool { throw .partsUnusable(.partsUnproved) }
        let coming = running.filter { $0.head?.status == 206 }.map(\.brought)
        await context.disk.afterWrites()
        let edges = Overlap.edges(of: answered + coming).intersection(target.written)
        let doubtful = attempt.local.inherited.missing(in: 0..<edges.end).intersection(edges)
        answered = []
        attempt.forget(doubtful)
        for range in doubtful.ranges { planner.restore(range) }
    }
}
