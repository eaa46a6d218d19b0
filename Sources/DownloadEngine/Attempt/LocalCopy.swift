import DownloadCore
import DownloadSystem
import Foundation
import HTTPTypes

/// The step that copies the file of a `file` URL. The kernel copies the bytes, without a ``Transport``. All other steps
/// are the same as for other downloads.
struct LocalCopy: AttemptPhase {
    let attempt: Attempt
    let probe: Probe

    /// The maximum number of bytes in one copy call. It is large enough to make calls cheap, and small enough to stop
    /// quickly.
    private static let longestStep: Int64 = 8 << 20

    /// Copies the file. Returns the file that already has the final name, or nil if all bytes are in the partial file.
    @inline(never)
    func run(_ naming: Naming) async throws -> ExistingFile? {
        let source = try LocalSource(try record.request.url.localPath())
        let candidate = EarlierCompletion(of: record)?.current
        let segment = try probe.makeSegment(asksRange: true, isConditional: false)
        let answer = answer(from: source, to: segment)
        switch segment.verdict {
        case .failed(let error): throw error
        case .changed(let why): throw RoundEnd.changed(why: why)
        case .newVersion(_, let why): try await attempt.startOver(why: why)
        default: break
        }
        if let candidate, let verdict = segment.verdict,
            candidate.isSame(as: answer.head, verdict, now: context.time.date)
        {
            record.keepCurrent(candidate)
            return .current
        }
        try probe.learn(from: answer)
        if let existing = try await naming.openFile(for: answer) { return existing }
        guard let file else { throw DownloadError.unexpected("a copy without a file") }
        try await copy(from: source, to: file, startingAt: segment.judge.start)
        if source.hasChanged { throw RoundEnd.changed(why: "it was written to while it was copied") }
        return nil
    }

    private func copy(from source: LocalSource, to file: PartialFile, startingAt start: Int64) async throws {
        let total = source.status.size
        let allowance = context.transport.allowance(under: limits)
        var position = start
        while position < total {
            let range = position..<position + (try await nextCount(upTo: total - position, allowance))
            let received = file.written.count
            let count = try await nextStep { () throws(DownloadError) in try file.copy(range, from: source) }
            if let failure = file.failure { throw failure }
            if file.differs { throw RoundEnd.changed(why: "its bytes differ from those copied before") }
            if count == 0 { throw RoundEnd.changed(why: "it is shorter now") }
            control.add(received: Int(file.written.count - received))
            position += count
            if count < range.count { allowance.giveBack(range.count - Int(count)) }
        }
    }

    /// Reads the file and writes the bytes to the stream, because the kernel cannot copy to the stream.
    func send(to delivery: StreamDelivery) async throws {
        let stream = delivery.stream
        let source = try LocalSource(try record.request.url.localPath())
        let segment = try probe.makeSegment(asksRange: true, isConditional: false)
        let answer = answer(from: source, to: segment)
        if case .failed(let error)? = segment.verdict { throw error }
        try probe.learn(from: answer)
        if let expected = record.expected { try stream.beginDigest(expected.checksum.algorithm) }
        control.show(record)
        context.announce(.didStart(DownloadSnapshot(record: record), atOffset: 0))
        let allowance = context.transport.allowance(under: limits)
        while stream.written < source.status.size {
            let begin = stream.written
            let step = try await nextCount(upTo: min(source.status.size - begin, 1 << 20), allowance)
            let count = try await nextStep { () throws(DownloadError) in
                let bytes = try source.read(begin..<begin + step)
                bytes.withUnsafeBytes { stream.write($0, at: begin) }
                return Int64(bytes.count)
            }
            if let failure = stream.failure { throw failure }
            if count == 0 { break }
            control.add(received: Int(count))
            attempt.recordDelivered(stream)
        }
        if stream.written < source.status.size || source.hasChanged {
            throw DownloadError.verificationFailed(.streamBroken("it was written to while it was copied"))
        }
        try delivery.complete()
    }

    private var limits: [RateLimit] { context.requests.limits(for: control) }

    /// Waits until the rate limits allow some bytes, and returns their number.
    private func nextCount(upTo most: Int64, _ allowance: any RateAllowance) async throws -> Int64 {
        while true {
            let limit = limits.compactMap(\.bytesPerSecond).min()
            let step = limit.map { max(1 << 12, min(Self.longestStep, $0 / 20)) } ?? Self.longestStep
            let count = allowance.take(Int(min(most, step)))
            if count > 0 { return Int64(count) }
            // The transfer engines also wait at most 10 ms before they check the limits again.
            try await attempt.wait(until: context.time.now + .milliseconds(10))
        }
    }

    private func nextStep(_ body: @escaping @Sendable () throws(DownloadError) -> Int64) async throws -> Int64 {
        let step = Task { [context, control] in
            defer { control.send(.delivered) }
            return try await context.disk.onWriter(body)
        }
        try await attempt.awaitDelivered()
        return try await step.value
    }

    private func answer(from source: LocalSource, to segment: SegmentWriter) -> ProbeAnswer {
        let head = Self.head(of: source, from: segment.judge.start)
        _ = segment.transferDidReceiveHead(head)
        return ProbeAnswer(segment: segment, head: head, route: RequestRoute(record.request.url))
    }

    /// Returns an HTTP head that describes the local file, so that the rules for HTTP answers (``ResponseJudge``) judge
    /// it.
    private static func head(of source: LocalSource, from start: Int64) -> ResponseHead {
        let size = source.status.size
        var fields = HTTPFields()
        fields[.eTag] = source.tag?.fieldValue
        fields[.lastModified] = HTTPDate.format(
            Date(timeIntervalSince1970: (Double(source.status.modified) / 1e9).rounded(.down)))
        if size == 0, start == 0 {
            fields[.contentLength] = "0"
            return ResponseHead(status: 200, httpVersion: "", fields: fields)
        }
        fields[.contentRange] = start < size ? "bytes \(start)-\(size - 1)/\(size)" : "bytes */\(size)"
        return ResponseHead(status: start < size ? 206 : 416, httpVersion: "", fields: fields)
    }
}

extension SourceURL {
    func localPath() throws(DownloadError) -> String {
        guard let bytes = path.utf8.percentDecoded, let path = String(validating: bytes, as: UTF8.self) else {
            throw .requestInvalid(.malformedURL(string))
        }
        if FileStatus.isFolder(path) { throw .requestInvalid(.folder(string)) }
        return path
    }
}
