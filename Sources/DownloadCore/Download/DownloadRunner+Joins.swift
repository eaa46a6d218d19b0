/// Every join of two parts is proved by bytes that come twice (``Overlap``): a server may send the right
/// `Content-Range` and a strong ETag with bytes from another place of the file.
extension DownloadRunner {
    /// Digests of pieces, or of the file, prove what several sources bring: then a difference at a join would not tell
    /// which of them was wrong, and a digest does.
    var joinsByBytes: Bool { pool == nil || verifier == nil && expected == nil }

    /// The wanted range with the bytes before and behind it that are compared.
    func overlapping(_ range: Range<Int64>) -> Range<Int64> {
        let held = file?.written ?? ByteRanges()
        // Within an attempt the neighbour was asked for the same version a moment ago.
        let size = validators.ifRange == nil ? Overlap.unproven : Overlap.joined
        return Overlap.startOfPart(
            before: range.lowerBound, held: held, size: size)..<Overlap.end(after: range.upperBound, held: held)
    }

    /// The server says that what comes is of the version that is here.
    var claimsSameVersion: Bool {
        validators.ifRange != nil && record.resume.acceptsRanges && record.resume.movedFrom == nil && joint == nil
            && !distrustsRanges
    }

    /// Looks for bytes that another program took from the partial file: then no answer was misplaced.
    /// - Returns: whether there were any; they are fetched again.
    func forgetsHoles() async throws -> Bool {
        guard let file, let total = record.resume.total else { return false }
        await finishCheckpoint()
        let isDamaged = try await context.disk.onWriter { () throws(DownloadError) in
            let written = file.written
            guard try !file.cutOff(before: total, margin: 0).intersection(written).isEmpty else { return false }
            file.forget(try file.cutOff(before: total))
            file.forgetDifference()
            return true
        }
        guard isDamaged else { return false }
        restartDigest(of: file)
        readFile()
        try await save(durably: true)
        control.show(received: record.received)
        context.announce(
            .didRestart(DownloadSnapshot(record: record), why: "another program cut bytes off; they are fetched again"))
        return true
    }

    /// Gives up everything that this attempt brought, because nobody can say which part of it was misplaced. From now on
    /// the file is asked for in one answer, without a range. The bytes of earlier attempts are compared with that answer,
    /// and dropped only if they differ.
    func distrustRanges(_ why: String) async throws {
        await finishCheckpoint()
        if let file {
            file.forget(inherited.missing(in: 0..<file.written.end).intersection(file.written))
            file.forgetDifference()
            restartDigest(of: file)
        }
        if pool?.isMixed == true {
            var book = record.resume.sources ?? SourceBook()
            book.beAlone()
            record.resume.sources = book
        }
        readFile()
        try await save(durably: true)
        control.show(received: record.received)
        // The bytes that are here came from another source.
        if isMirror, !inherited.isEmpty { throw DownloadError.verificationFailed(.otherMirror(why)) }
        distrustsRanges = true
        let told = "a part of it was not from the place that the server named; the file is fetched in one answer"
        context.announce(.didRestart(DownloadSnapshot(record: record), why: told))
    }

    /// Remembers where an answer in part began and ended. One that contradicts itself makes the edges of all others
    /// doubtful: they are fetched again and so compared with what lies between them. Pieces have digests for that.
    func noteAnswer(of segment: SegmentWriter, upTo position: Int64, _ work: SegmentWork) async {
        guard segment.isContradictory, verifier == nil else {
            if segment.head?.status == 206, position > segment.countedStart {
                work.answers.append(segment.countedStart..<position)
            }
            return
        }
        let running = segments.filter { $0.head?.status == 206 }.map(\.brought)
        guard let file else { return }
        await context.disk.afterWrites()
        let edges = Overlap.edges(of: work.answers + running).intersection(file.written)
        let doubtful = inherited.missing(in: 0..<edges.end).intersection(edges)
        work.answers = []
        file.forget(doubtful)
        control.add(received: -Int(doubtful.count))
        restartDigest(of: file)
        for range in doubtful.ranges { work.planner.restore(range) }
    }

    /// Asks for what is missing when every request is over: where the comparison at a join did not come to its end.
    func fetchRest(of file: PartialFile, _ work: SegmentWork) async throws {
        guard record.resume.acceptsRanges, joinsByBytes, let total = record.resume.total else { return }
        await context.disk.afterWrites()
        try requireWritten()
        let missing = file.written.missing(in: 0..<total)
        guard !missing.isEmpty, work.rounds < SegmentWork.roundLimit else { return }
        work.rounds += 1
        for range in missing.ranges { work.planner.restore(range) }
        try follow(.tick, work)
    }
}
