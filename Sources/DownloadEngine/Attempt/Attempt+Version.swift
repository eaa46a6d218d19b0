import DownloadCore

/// The proofs that new bytes belong to the same version of the file as the bytes on disk.
extension Attempt {
    /// The validators that answers of the current source must have.
    var validators: Validators {
        guard let sourceCheck, sourceCheck.way != .tagged else { return record.resume.validators }
        return sourceCheck.validators
    }

    var version: ResponseJudge.Version {
        ResponseJudge.Version(
            validators: validators, total: distrustsTotal ? nil : record.resume.total,
            contentType: record.resume.contentType, contentEncoding: record.resume.contentEncoding,
            digest: record.request.asksForDigest ? record.resume.digest : nil)
    }

    /// Whether parts may be joined. A strong validator or a digest proves that they are of one version (RFC 9110
    /// section 15.3.7.3). Parts are also joined if the user accepts unverified files, or if the size and the time
    /// identify the version. The last case is that the bytes on disk come from an earlier URL or another program.
    var mayJoinParts: Bool {
        validators.ifRange != nil || record.stated != nil || record.request.acceptsUnverified
            || record.resume.movedFrom != nil || isKnownBySizeAndTime || record.hasPieces
    }

    /// Whether the rest of a lost answer may be requested in the same attempt. A new attempt follows if the secrets may
    /// have changed, because each attempt reads them again, or if the user wants no retries.
    var mayAskAgain: Bool {
        let files = record.request.secretFiles
        return mayJoinParts && !distrustsRanges && record.resume.acceptsRanges && record.request.retry.limit > 0
            && files.bearer == nil && files.bearerCommand == nil && context.adapter == nil
    }

    /// Whether the size and the modification time identify the version. FTP and SSH servers report nothing else. If
    /// both match, the last bytes on disk are compared.
    var isKnownBySizeAndTime: Bool {
        !record.source.isHTTP && record.resume.total != nil && validators.lastModified != nil
    }

    /// Whether the request begins near the end of the bytes on disk. Otherwise all of these bytes are fetched again and
    /// compared.
    var mayResume: Bool {
        let written = record.resume.written
        return mayJoinParts || written.prefix == written.count && written.count <= Overlap.unproven
    }

    /// The number of bytes that are compared before new bytes are joined to the bytes on disk. It is larger if no
    /// `If-Range` asks for the same version, or if the size is unknown. It is smaller if an earlier attempt brought so
    /// few bytes that the download would never end.
    var overlapSize: Int64 {
        if validators.ifRange == nil || record.resume.total == nil { return Overlap.unproven }
        let brought = record.attempts.last { $0.received > 0 }?.received ?? .max
        return min(Overlap.resumed, max(Overlap.joined, brought / 8))
    }

    /// Whether the overlaps of parts are compared. They are not compared if the file has several sources, and its
    /// digest or the digests of its pieces prove the bytes. A difference would not show which source is wrong.
    var comparesOverlaps: Bool { !transfers.sources.isShared || local.verifier == nil && !record.isProved }

    /// Throws if the file takes no more bytes, because a write failed or because bytes that were fetched again differ
    /// from the bytes on disk.
    func requireWritten() throws {
        if let failure = local.file?.failure { throw failure }
        guard local.file?.differs == true else { return }
        let why = "its bytes differ from those fetched before"
        let claimsSameVersion =
            validators.ifRange != nil && record.resume.acceptsRanges && record.resume.movedFrom == nil
            && sourceCheck == nil && !distrustsRanges
        throw claimsSameVersion ? RoundEnd.misplaced(why: why) : RoundEnd.changed(why: why)
    }

    /// Begins the check of a source if the bytes in the file come from another source. Called before each probe.
    func beginSourceCheck() {
        guard sourceCheck == nil, record.isJoining, context.stream == nil else { return }
        let way: SourceOverlapCheck.Way =
            if record.isProved || record.request.acceptsUnverified {
                .trusted
            } else {
                record.resume.validators.hasStrongTag ? .tagged : .compared
            }
        sourceCheck = SourceOverlapCheck(way, before: record.resume.written)
        // If an attempt was killed, its source has brought bytes that were not recorded. One byte marks the source as
        // one that brought bytes.
        let owner = record.resume.sources?.owner ?? record.request.url.string
        record.resume.sources?.change(owner) { $0.received = max($0.received, 1) }
    }

    /// Changes the check to a comparison of all bytes if the source has another ETag or none. Then only the bytes can
    /// show whether the source has the same file. Returns whether the check was changed.
    func comparesInstead(of verdict: ResponseJudge.Verdict) -> Bool {
        guard let sourceCheck, sourceCheck.way == .tagged else { return false }
        switch verdict {
        case .newVersion, .changed, .failed(.verificationFailed(.changed)): break
        default: return false
        }
        sourceCheck.way = .compared
        return true
    }

    /// Prepares the comparison of a whole answer with the bytes on disk, for a source that sends no parts or no
    /// validators. Returns false if the answer cannot be compared: no source check runs, the check relies on the ETag,
    /// or the size differs.
    func comparesWhole(_ total: Int64?) -> Bool {
        guard let sourceCheck, sourceCheck.way != .tagged, total == nil || total == record.resume.total else {
            return false
        }
        sourceCheck.way = .compared
        control.show(received: 0)
        return true
    }

    /// Records the validators in the first answer of a source, and decides up to which offset the answers of this
    /// source are compared.
    func recordSource(_ answer: ProbeAnswer) {
        guard let sourceCheck else {
            if record.resume.written.isEmpty { recordOwner() }
            return
        }
        sourceCheck.validators = Validators(head: answer.head, now: context.time.date)
        sourceCheck.probe = answer.segment
        switch sourceCheck.way {
        case .tagged: prove(sourceCheck)
        case .trusted: sourceCheck.end = answer.segment.countedStart
        case .compared: sourceCheck.end = sourceCheck.before.end
        }
    }

    private func recordOwner() {
        if record.request.mirrors.isEmpty, record.resume.sources == nil { return }
        let owner = record.isMirror ? record.source.string : nil
        record.resume.changeSources { $0.owner = owner }
    }

    /// Ends the check: from now on the bytes in the file count as bytes of the current source.
    func prove(_ check: SourceOverlapCheck) {
        record.resume.validators = check.validators
        recordOwner()
        sourceCheck = nil
    }

    /// Returns the written ranges that may be recorded. Before the source is proved to have the same file, these are
    /// only the ranges that were on disk before the check.
    func proven(_ ranges: ByteRanges) -> ByteRanges {
        guard let sourceCheck else { return ranges }
        if sourceCheck.reached >= sourceCheck.end, local.file?.differs != true {
            prove(sourceCheck)
            return ranges
        }
        return sourceCheck.before.intersection(ranges)
    }
}

extension Validators {
    /// A strong ETag names the same bytes on every server that has it (RFC 6249 section 5).
    var hasStrongTag: Bool { etag?.isWeak == false }
}
