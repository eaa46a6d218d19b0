import HTTPTypes

/// The check of a response head before a byte of the body is written. libcurl reports success for a 200 with the whole
/// file, for wrong offsets and for error pages, so the decision is made here.
package struct ResponseJudge: Sendable, Equatable {
    /// The offset of the first requested byte.
    package var start: Int64
    /// The offset after the last requested byte. Nil for an open end.
    package var end: Int64?
    /// Whether the request had a `Range` field.
    package var asksRange: Bool
    /// Whether the request was conditional, for a file that is complete on disk. Then 304 is a valid answer.
    package var isConditional = false
    /// The known facts about the version that the bytes on disk or the other segments belong to. Nil for a fresh start.
    package var known: Version?
    /// The rules of the user for answers that may be the file.
    package var validation = ResponseValidation()

    package struct Version: Sendable, Equatable {
        package var validators: Validators
        package var total: Int64?
        package var contentType: String?
        package var contentEncoding: String?
        /// The digest of the file, as the server states it.
        package var digest: Checksum?

        package init(
            validators: Validators, total: Int64?, contentType: String?, contentEncoding: String? = nil,
            digest: Checksum? = nil
        ) {
            self.digest = digest
            self.validators = validators
            self.total = total
            self.contentType = contentType
            self.contentEncoding = contentEncoding
        }
    }

    package init(start: Int64, end: Int64?, asksRange: Bool, known: Version? = nil) {
        self.start = start
        self.end = end
        self.asksRange = asksRange
        self.known = known
    }

    package enum Verdict: Sendable, Equatable {
        /// The body belongs to the known version. It begins at `offset` and ends before `end`, or where the body ends
        /// if `end` is nil. A partial answer may begin before the requested range.
        case body(offset: Int64, end: Int64?, total: Int64?)
        /// The body is the whole of another version, from its first byte.
        case newVersion(total: Int64?, why: String)
        /// The file has another version, but this body is not its beginning. The file must be requested again from
        /// offset 0.
        case changed(why: String)
        /// The file on disk is still the current version.
        case current
        case redirect(to: String)
        /// The server rejects ranges or sends the whole file for any range, the file is empty, or the first 206 is
        /// unclear. The file must be requested without a range.
        case askWithoutRange
        case failed(DownloadError)
    }

    package func judge(_ head: ResponseHead) -> Verdict {
        let verdict = verdict(of: head)
        switch verdict {
        case .body(_, _, let total), .newVersion(let total, _):
            return validation.failure(of: head, total: total).map { .failed($0) } ?? verdict
        default: return verdict
        }
    }

    private func verdict(of head: ResponseHead) -> Verdict {
        switch head.status {
        case 200: judgeWhole(head)
        case 206: judgePart(head)
        case 304 where isConditional: .current
        case 301, 302, 303, 307, 308:
            head.redirectURL.map { .redirect(to: $0) } ?? .failed(.protocolViolated(.redirectWithoutLocation))
        case 416: judgeUnsatisfied(head)
        case let status where validation.takes(status: status): judgeWhole(head)
        case 401, 407: .failed(.authenticationFailed(status: head.status))
        case 400 where asksRange && known == nil, 501 where asksRange && known == nil:
            .askWithoutRange
        default: .failed(.serverRefused(status: head.status, phrase: head.phrase))
        }
    }

    // MARK: 200

    /// - Parameter size: The size of the file, if the answer states it in another way than by its length.
    private func judgeWhole(_ head: ResponseHead, size: Int64? = nil) -> Verdict {
        let length = Self.contentLength(head) ?? size
        if length == nil, let unclear = unclearLength(head) { return .failed(unclear) }
        // Answers with these status codes have no body (RFC 9110 sections 15.3.5 and 15.3.6).
        let hasNone = [204, 205].contains(head.status)
        let total = hasNone ? 0 : head.isDecoded ? nil : length
        if total == 0, !hasNone, let contradiction = contradictionOfEmptyBody(head) {
            return .failed(.protocolViolated(.malformedReply(contradiction)))
        }
        guard let known else { return .body(offset: 0, end: total, total: total) }
        if let error = kindChanged(head, known) { return .failed(error) }
        if let why = changeOf(head, total: total, with: known) { return .newVersion(total: total, why: why) }
        if isProved(head, total: total, toBe: known) {
            return .body(offset: 0, end: total ?? known.total, total: total ?? known.total)
        }
        if lacksValidators(head, known) {
            return .failed(.verificationFailed(.changed("the answer lacks the validators of earlier answers")))
        }
        return .newVersion(total: total, why: "the server sends the whole file, and nothing proves it unchanged")
    }

    /// Returns the error for a `Content-Length` that ``contentLength(_:)`` could not read: it is not a number, or there
    /// are several different numbers (RFC 9112 section 6.3). libcurl uses one of the numbers, or none of them. With
    /// none, libcurl would take the end of the connection for the end of the file.
    private func unclearLength(_ head: ResponseHead) -> DownloadError? {
        let lengths = head.fields.values(.contentLength)
        if lengths.isEmpty || head.fields.value(.transferEncoding) != nil { return nil }
        return .protocolViolated(.malformedReply("Content-Length: \(lengths.joined(separator: ", "))"))
    }

    /// Returns why the file cannot be empty, although the answer has `Content-Length: 0`; nil if nothing contradicts an
    /// empty file. `Content-Length: 0` ends the message at once (RFC 9112 section 6.3), so bytes that may come later on
    /// the connection do not belong to the message. A server's digest that is not the digest of an empty file is found
    /// when the file is verified, like any other wrong digest.
    private func contradictionOfEmptyBody(_ head: ResponseHead) -> String? {
        if let value = head.fields.value(.contentRange), let range = ContentRange(fieldValue: value),
            ![.unsatisfied(total: nil), .unsatisfied(total: 0)].contains(range)
        {
            return "Content-Length: 0 with Content-Range: \(value)"
        }
        guard let was = known?.total, was > 0, let known, changeOf(head, total: nil, with: known) == nil else {
            return nil
        }
        return "Content-Length: 0 for a file of \(was) bytes, and nothing says that the file has changed"
    }

    /// Returns whether the answer lacks the validators of the known version. One server of several, or an intermediary,
    /// may send fewer fields than another, so another try may succeed.
    private func lacksValidators(_ head: ResponseHead, _ known: Version) -> Bool {
        let now = Validators(undated: head)
        return known.validators.etag != nil
            ? now.etag == nil : known.validators.lastModified != nil && now.lastModified == nil
    }

    // MARK: 206

    private func judgePart(_ head: ResponseHead) -> Verdict {
        /// A partial answer that contradicts itself or the request. If no bytes are known yet, nothing depends on the
        /// range, so the file is requested without one.
        func wrong(_ what: String) -> Verdict {
            asksRange && start == 0 && known == nil
                ? .askWithoutRange : .failed(.protocolViolated(.wrongRange(what)))
        }
        if !asksRange {
            return size(ofWhole: head).map { judgeWhole(head, size: $0) } ?? wrong("206 to a request without a range")
        }
        if Self.mediaType(head)?.hasPrefix("multipart/") == true { return wrong("several ranges instead of one") }
        let length = Self.contentLength(head)
        if length == nil, let unclear = unclearLength(head) { return .failed(unclear) }
        guard let value = head.fields.value(.contentRange) else { return wrong("206 without Content-Range") }
        guard case .satisfied(let range, let total)? = ContentRange(fieldValue: value) else {
            return wrong("Content-Range: \(value)")
        }
        if let known, let why = changeOf(head, total: total, with: known) { return .changed(why: why) }
        // The server sends the whole file for any range.
        if range.lowerBound == 0, range.upperBound == total, start > Self.mostSurplus || end ?? .max < range.upperBound
        {
            return .askWithoutRange
        }
        guard range.contains(start), start - range.lowerBound <= Self.mostSurplus else {
            return wrong("asked from \(start), got \(value)")
        }
        if let end, range.upperBound > end { return wrong("asked up to \(end - 1), got \(value)") }
        if let length, length != Int64(range.count) {
            return wrong("Content-Length \(length) for Content-Range \(value)")
        }
        // Without a total, the end of the body would not prove the end of the file.
        guard let total = total ?? known?.total else { return wrong(value) }
        if let known {
            if let error = kindChanged(head, known) { return .failed(error) }
            if let etag = known.validators.etag, EntityTag(head: head) == nil {
                return .failed(.verificationFailed(.changed("the answer lacks the ETag \(etag.fieldValue)")))
            }
            // An FTP or SSH server sends no ETag, so only size and time identify the version.
            if head.httpVersion.isEmpty, let was = known.validators.lastModified,
                head.fields.value(.lastModified) == nil
            {
                return .failed(.verificationFailed(.changed("its time of change was \(was), now there is none")))
            }
        }
        return .body(offset: range.lowerBound, end: range.upperBound, total: total)
    }

    /// Returns the size of the file if a partial answer has the whole file. Some servers always send such an answer.
    private func size(ofWhole head: ResponseHead) -> Int64? {
        guard let total = ContentRange(head: head)?.sizeOfWhole,
            Self.contentLength(head).map({ $0 == total }) ?? (unclearLength(head) == nil)
        else { return nil }
        return total
    }

    /// The number of bytes by which a partial answer may begin before the requested range. Some caches answer from the
    /// beginning of a block. The bytes before the range are compared with those on disk.
    private static let mostSurplus: Int64 = 1 << 20

    // MARK: 416

    private func judgeUnsatisfied(_ head: ResponseHead) -> Verdict {
        if !asksRange { return .failed(.serverRefused(status: 416, phrase: head.phrase)) }
        guard let known else {
            return start == 0
                ? .askWithoutRange : .failed(.protocolViolated(.wrongRange("416 for a range from \(start)")))
        }
        if case .unsatisfied(let total?)? = ContentRange(head: head), total != known.total {
            return .changed(why: "its size is now \(total)")
        }
        return .failed(.protocolViolated(.wrongRange("416 for a range from \(start)")))
    }

    // MARK: Versions

    /// Returns whether the validators prove that the answer is of the known version.
    private func isProved(_ head: ResponseHead, total: Int64?, toBe known: Version) -> Bool {
        let (was, now) = (known.validators, Validators(undated: head))
        let isSameByDate = was.lastModified == now.lastModified && total != nil && total == known.total
        // For an FTP or SSH server, the same size and time are enough, because the bytes on disk are then compared with
        // the bytes that arrive.
        if head.httpVersion.isEmpty, isSameByDate { return true }
        if let tag = was.etag { return now.etag.map(tag.isStrongly) ?? false }
        return was.lastModifiedIsStrong && isSameByDate
    }

    /// Returns evidence that the answer is of another version, or nil if there is none.
    private func changeOf(_ head: ResponseHead, total: Int64?, with known: Version) -> String? {
        if let was = known.digest, let digest = ServerDigest.contradicts(was, head) {
            return "its digest was \(was), now \(digest)"
        }
        let now = Validators(undated: head)
        if let was = known.validators.etag, let etag = now.etag {
            if was.opaque != etag.opaque { return "its ETag was \(was.fieldValue), now \(etag.fieldValue)" }
            if was.isStrongly(etag), known.total == nil || total == nil || total == known.total { return nil }
        } else if known.validators.etag == nil, let was = known.validators.lastModified,
            let modified = now.lastModified, was != modified
        {
            return "it was modified \(was), now \(modified)"
        }
        if let was = known.total, let total, was != total { return "its size was \(was), now \(total)" }
        return nil
    }

    /// Returns the error for an HTML page instead of the file, such as a login form or an error page with status 200.
    /// Also returns an error for another content coding. The bytes on disk are kept in both cases.
    private func kindChanged(_ head: ResponseHead, _ known: Version) -> DownloadError? {
        let encoding = Self.contentEncoding(head)
        if encoding != known.contentEncoding {
            let (was, now) = (known.contentEncoding ?? "identity", encoding ?? "identity")
            return .verificationFailed(.changed("its Content-Encoding was \(was), now \(now)"))
        }
        guard Self.mediaType(head) == "text/html", known.contentType != "text/html" else { return nil }
        return .verificationFailed(.unexpectedType(was: known.contentType ?? "of no type", is: "text/html"))
    }

    package static func mediaType(_ head: ResponseHead) -> String? {
        head.fields.value(.contentType).map { value in
            // Most values already have the normal form.
            if value.hasOnly({ $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "-") || $0.isLowercaseLetter }) {
                return value
            }
            let bytes = value.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != UInt8(ascii: " ") }
            return String(decoding: bytes, as: UTF8.self).lowercased()
        }
    }

    /// Returns the content coding of the delivered body, or nil for none (`identity`).
    package static func contentEncoding(_ head: ResponseHead) -> String? {
        if head.isDecoded { return nil }
        let codings = head.fields.values(.contentEncoding).joined(separator: ",").lowercased().split(separator: ",")
            .map { $0.trimmingPrefix { $0 == " " }.prefix { $0 != " " } }.filter { !$0.isEmpty && $0 != "identity" }
        return codings.isEmpty ? nil : codings.joined(separator: ", ")
    }

    /// Returns the size of the whole body from `Content-Length`. Nil if the body is chunked or ends with the
    /// connection, or if the field is unclear (RFC 9112 section 6.3). A list of values must repeat one number.
    package static func contentLength(_ head: ResponseHead) -> Int64? {
        if head.fields.value(.transferEncoding) != nil { return nil }
        guard let value = head.fields.value(.contentLength) else { return nil }
        if let length = value.utf8.decimal { return length }
        let lengths = value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { $0.trimmingWhitespace().decimal }
        guard let first = lengths.first, lengths.allSatisfy({ $0 == first }) else { return nil }
        return first
    }
}

extension EntityTag {
    /// Parses the ETag of a response. Nil if the ETag is missing or malformed.
    package init?(head: borrowing ResponseHead) {
        guard let value = head.fields.value(.eTag) else { return nil }
        self.init(fieldValue: value)
    }
}
