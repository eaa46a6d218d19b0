import Foundation
import HTTPTypes

/// `file` URLs: no transport moves these bytes, the kernel does. All else is as with any other download.
extension DownloadRunner {
    /// At once: long enough to be cheap, short enough to be stopped.
    private static let longestStep: Int64 = 8 << 20

    func localPath() throws(DownloadError) -> String {
        let url = record.request.url
        let bytes = url.path.utf8.percentDecoded
        guard let path = bytes.flatMap({ String(validating: $0, as: UTF8.self) }) else {
            throw .requestInvalid(.malformedURL(url.string))
        }
        if FileStatus.isFolder(path) { throw .requestInvalid(.folder(url.string)) }
        return path
    }

    /// Returns the size of the file once all of it is written; nil when there was nothing to copy.
    func copyLocalFile() async throws -> Int64? {
        let source = try LocalSource(try localPath())
        let candidate = currentCandidate()
        let scout = try makeScout(asksRange: true, isConditional: false)
        let head = Self.head(of: source, from: scout.judge.start)
        _ = scout.transferDidReceiveHead(head)
        let opening = Opening(scout: scout, route: RequestRoute(record.request.url), result: nil)
        switch scout.verdict {
        case .failed(let error): throw error
        case .changed(let why): throw RoundEnd.changed(why: why)
        case .newVersion(_, let why): try await startOver(why: why)
        default: break
        }
        if let candidate, let verdict = scout.verdict, isUnchanged(candidate, head, verdict) {
            keepCurrent(candidate)
            return nil
        }
        try await establish(head, opening)
        guard let file else { throw DownloadError.unexpected("a copy without a file") }
        try await copy(from: source, to: file, startingAt: scout.judge.start)
        if source.hasChanged { throw RoundEnd.changed(why: "it was written to while it was copied") }
        return source.status.size
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

    /// Reads and writes it, for want of a file that the kernel could copy to. Nothing is begun twice.
    func sendLocalFile(to stream: StreamOutput) async throws {
        let source = try LocalSource(try localPath())
        let scout = try makeStreamScout(stream, asksRange: true)
        let head = Self.head(of: source, from: scout.judge.start)
        _ = scout.transferDidReceiveHead(head)
        if case .failed(let error)? = scout.verdict { throw error }
        try note(head, Opening(scout: scout, route: RequestRoute(record.request.url), result: nil))
        if let expected { try stream.beginDigest(expected.checksum.algorithm) }
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
            noteDelivered(stream)
        }
        if stream.written < source.status.size || source.hasChanged {
            throw DownloadError.verificationFailed(.streamBroken("it was written to while it was copied"))
        }
        try complete(stream)
    }

    private var limits: [RateLimit] { [context.rateLimit, control.rateLimit] }

    /// How many bytes may be copied now; it takes until there are some.
    private func nextCount(upTo most: Int64, _ allowance: any RateAllowance) async throws -> Int64 {
        while true {
            let limit = limits.compactMap(\.bytesPerSecond).min()
            let step = limit.map { max(1 << 12, min(Self.longestStep, $0 / 20)) } ?? Self.longestStep
            let count = allowance.take(Int(min(most, step)))
            if count > 0 { return Int64(count) }
            try await wait(until: context.time.now + Self.patience)
        }
    }

    /// As long as engines wait before they look at the limits again.
    private static let patience = Duration.milliseconds(10)

    private func nextStep(_ body: @escaping @Sendable () throws(DownloadError) -> Int64) async throws -> Int64 {
        let step = Task { [context, control] in
            defer { control.send(.delivered) }
            return try await context.disk.onWriter(body)
        }
        try await awaitDelivered()
        return try await step.value
    }

    /// Messages are obeyed meanwhile; no transfer runs.
    func wait(until moment: ContinuousClock.Instant) async throws {
        guard moment > context.time.now else { return }
        let alarm = Task { [control, time = context.time] in
            try await time.sleep(until: moment)
            control.send(.delivered)
        }
        defer { alarm.cancel() }
        try await awaitDelivered()
    }

    /// In the words of HTTP, so that it is judged by the same rules.
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
