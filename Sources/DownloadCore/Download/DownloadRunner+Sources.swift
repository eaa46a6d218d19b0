import HTTPTypes

/// Of a download with mirrors: what one source has brought is continued from another only where both have the same file.
extension DownloadRunner {
    /// Looked at before each first request.
    func makeJoint() {
        guard joint == nil else { return }
        guard record.isJoining, context.stream == nil else { return }
        let way: SourceJoint.Way =
            if expected != nil || record.request.acceptsUnverified {
                .trusted
            } else if let etag = record.resume.validators.etag, !etag.isWeak {
                .tagged
            } else {
                .compared
            }
        joint = SourceJoint(way, before: record.resume.written)
        // Killed, an attempt tells nothing of what it had brought.
        let owner = record.resume.sources?.owner ?? record.request.url.string
        record.resume.sources?.change(owner) { $0.received = max($0.received, 1) }
    }

    /// The validators that the answers of the source that is asked must have.
    var validators: Validators {
        guard let joint else { return record.resume.validators }
        return joint.way == .tagged ? record.resume.validators : joint.validators
    }

    /// Its own, and nobody else's: where they come from elsewhere they may differ and prove nothing.
    var isMirror: Bool { record.source != record.request.url }

    /// The ETag is another one, or there is none any more: only the bytes can tell.
    func comparesInstead(of verdict: ResponseJudge.Verdict) -> Bool {
        guard let joint, joint.way == .tagged else { return false }
        switch verdict {
        case .newVersion, .changed, .failed(.verificationFailed(.changed)): break
        default: return false
        }
        joint.way = .compared
        return true
    }

    /// A whole answer of the same size, from a source that takes no ranges or tells no validators: it is compared.
    func comparesWhole(_ total: Int64?) -> Bool {
        guard let joint, joint.way != .tagged, total == nil || total == record.resume.total else { return false }
        joint.way = .compared
        control.show(received: 0)
        return true
    }

    /// Something proves that the source has another file than the one that is here. The URL that was asked for is right,
    /// whatever its mirrors say.
    func replace(why: String) async throws {
        if joint != nil, isMirror { throw DownloadError.verificationFailed(.otherMirror(why)) }
        try await startOver(why: why)
    }

    /// Redirects name them, too: those are what a server that chooses a mirror answers with.
    func noteLinks(_ head: ResponseHead, from url: SourceURL) {
        guard record.request.mirrors.isEmpty || record.request.describedBy != nil, record.request.asksRanges,
            context.stream == nil
        else { return }
        let found = MirrorLinks(head, from: url, near: record.request.location)
        if links?.mirrors.isEmpty ?? true, !found.mirrors.isEmpty {
            var merged = found
            merged.document = links?.document ?? found.document
            links = merged
        } else if links?.document == nil, found.document != nil {
            links = links ?? found
            links?.document = found.document
        }
    }

    /// Where a digest says what the file is (RFC 6249 section 7). Whoever asked over TLS is not sent elsewhere without.
    func takeLinks() {
        guard let links else { return }
        if asksForDigest, record.resume.digest == nil, record.resume.written.isEmpty {
            record.resume.digest = links.digest
        }
        guard expected != nil, !links.mirrors.isEmpty else { return }
        record.request.mirrors = (record.request.mirrors + links.mirrors.filter(mayBeMirror)).firstOccurrences
    }

    /// What a Metalink document says of the size holds for each source.
    func requireSize(_ total: Int64?) throws(DownloadError) {
        guard let size = record.request.size, let total, total != size else { return }
        throw .verificationFailed(.size(expected: size, actual: total))
    }

    /// What the first answer of the source says.
    func noteSource(_ head: ResponseHead, _ scout: SegmentWriter) {
        guard let joint else {
            if record.resume.written.isEmpty { noteOwner() }
            return
        }
        joint.validators = Validators(head: head, now: context.time.date)
        joint.scout = scout
        switch joint.way {
        case .tagged: prove(joint)
        case .trusted: joint.end = scout.countedStart
        case .compared: joint.end = joint.before.end
        }
    }

    private func noteOwner() {
        if record.request.mirrors.isEmpty, record.resume.sources == nil { return }
        var book = record.resume.sources ?? SourceBook()
        book.owner = isMirror ? record.source.string : nil
        record.resume.sources = book
    }

    /// From here on what is here is of this source.
    func prove(_ joint: SourceJoint) {
        record.resume.validators = joint.validators
        noteOwner()
        self.joint = nil
    }

    /// What was written may be recorded: once it is proved, all of it.
    func proven(_ ranges: ByteRanges) -> ByteRanges {
        guard let joint else { return ranges }
        if joint.reached >= joint.end, file?.differs != true {
            prove(joint)
            return ranges
        }
        return joint.before.intersection(ranges)
    }

    /// What each source has brought.
    func noteReceived(from segment: SegmentWriter) {
        guard record.resume.sources != nil || !record.request.mirrors.isEmpty else { return }
        let count = inherited.missing(in: segment.brought).count
        var book = record.resume.sources ?? SourceBook()
        let url = pool.map { $0.members[$0.member(of: segment.connection)].url } ?? record.source
        book.change(url.string) { $0.received += count }
        record.resume.sources = book
    }
}
