import DownloadCore
import DownloadSystem

/// The description of the file in the server's `Link` fields: its mirrors, and the Metalink document about it (RFC
/// 6249). A redirect that leads to the file may state its digest, too.
final class FileDescription: AttemptPhase {
    let attempt: Attempt
    private var links: MirrorLinks?
    private var linked: StorageDigest.Linked?
    /// A document that was read and not applied yet.
    private var document: (metalink: Metalink, url: SourceURL)?

    init(_ attempt: Attempt) { self.attempt = attempt }

    /// Records the mirrors and the document that a head names. The head of a redirect may name them, too, if the server
    /// redirects to a mirror. It may also state the digest of the file.
    func observe(_ head: ResponseHead, from url: SourceURL) {
        linked = StorageDigest.linked(by: head, from: url) ?? linked
        guard record.request.mirrors.isEmpty || record.request.describedBy != nil, record.request.asksRanges,
            context.stream == nil
        else { return }
        let found = MirrorLinks(head, from: url, near: record.request.location)
        if links?.mirrors.isEmpty ?? true, !found.mirrors.isEmpty {
            let known = links?.document
            links = found
            links?.document = known ?? found.document
        } else if links?.document == nil, found.document != nil {
            links = links ?? found
            links?.document = found.document
        }
    }

    /// The time limit for the document, including its redirects. The download waits for the document.
    private static var timeLimit: Duration { .seconds(FaultPoint.limit("DLM_FAULT_DOCUMENT_SECONDS", 10.0)) }

    /// Reads the document at the URL before the answer is used. If the transfer of the answer ends meanwhile, its
    /// result is entered into the answer.
    @inline(never)
    func read(_ url: SourceURL, before answer: ProbeAnswer) async throws {
        let fetch = DocumentFetch(
            at: url, for: attempt, sendsCredentials: url.hasOrigin(of: record.request.url), acceptsCompressed: nil)
        let task = Self.begin(fetch, for: control)
        defer { task.cancel() }
        while true {
            switch try await attempt.nextMessage() {
            case .segmentFinished(let segment, let result) where segment === answer.segment: answer.result = result
            case .documentCame(let result):
                do throws(DownloadError) {
                    document = (try Metalink(try result.get(), name: url.string), url)
                } catch {
                    refuse("\(url): \(error)")
                }
                return
            default: continue
            }
        }
    }

    private static func begin(_ fetch: DocumentFetch, for control: AttemptControl) -> Task<Void, Never> {
        Task {
            let answer = await fetch.once(within: timeLimit)
            control.send(.documentCame(answer.map(\.bytes)))
        }
    }

    /// Returns the URL of the document that the answer names, if the document may be used.
    @inline(never)
    func documentToRead() -> SourceURL? {
        guard links?.document != nil, record.request.followsMetalink, record.request.describedName == nil,
            !record.isMirror
        else { return nil }
        if record.request.describedBy != nil {
            // The answer of the URL itself describes the file again, so the older description is dropped.
            guard record.resume.written.isEmpty, !record.request.repairs else { return nil }
            record.request.forgetDescription()
        }
        guard record.request.mirrors.isEmpty, record.request.pieces == nil, let url = links?.document, mayBeAsked(url)
        else { return nil }
        return url
    }

    /// Enters what the document and the links say into the record, as far as they are about this file.
    func apply() {
        if let linked, linked.size == record.resume.total, record.resume.written.isEmpty, !record.isMirror {
            use(linked.checksum)
        }
        if let (metalink, url) = document {
            document = nil
            apply(metalink, url)
        }
        applyLinks()
    }

    /// Uses the digest as that of the server, unless a digest that is preferred to it is known.
    private func use(_ digest: Checksum) {
        let order = Checksum.Algorithm.preferred
        func rank(_ digest: Checksum) -> Int { order.firstIndex(of: digest.algorithm) ?? order.count }
        guard record.request.asksForDigest, record.resume.digest.map({ rank(digest) < rank($0) }) ?? true
        else { return }
        record.resume.digest = digest
    }

    /// Applies a document if it describes the file of the answer. The document is trusted like the answer, so its
    /// digest counts as the server's digest.
    private func apply(_ metalink: Metalink, _ document: SourceURL) {
        let urls = [record.request.url] + [record.resume.finalURL].compactMap(\.self)
        guard let file = metalink.file(at: urls, size: record.resume.total) else {
            return refuse("\(document): it describes other files")
        }
        let known = [record.request.checksum, record.resume.digest].compactMap(\.self)
        if let digest = file.checksum, known.contains(where: { $0.algorithm == digest.algorithm && $0 != digest }) {
            return refuse("\(document): it describes another version of the file")
        }
        if let digest = file.checksum { use(digest.stated(in: document.string)) }
        guard let total = record.resume.total else { return }
        let pieces = file.pieces.flatMap { $0.fits(size: total) ? $0 : nil }
        guard record.isProved || pieces != nil else { return }
        record.resume.sources?.documentFailure = nil
        record.request.describedBy = document
        record.request.size = total
        record.request.pieces = pieces
        record.request.mirrors = file.sources(preferring: record.request.location).filter(mayBeAsked)
    }

    /// Applies the mirrors of the links, if a digest proves the file (RFC 6249 section 7).
    private func applyLinks() {
        guard let links else { return }
        if let digest = links.digest, record.resume.written.isEmpty, record.resume.digest?.algorithm.isCRC ?? true {
            use(digest)
        }
        guard record.isProved, !links.mirrors.isEmpty else { return }
        record.request.mirrors = (record.request.mirrors + links.mirrors.filter(mayBeAsked)).firstOccurrences
    }

    /// Returns whether a mirror or a document may be fetched. Nothing is fetched without TLS about a file that was
    /// requested over TLS.
    private func mayBeAsked(_ other: SourceURL) -> Bool {
        let url = record.request.url
        return other != url && (url.scheme != "https" || other.scheme == "https")
            && record.request.onlyScheme ?? other.scheme == other.scheme
    }

    /// Records why the document is not used. The file is then fetched as if there were no document.
    private func refuse(_ why: String) {
        let failure = attempt.requestSecrets.hidden(in: why)
        record.resume.changeSources { $0.documentFailure = failure }
    }
}

extension DocumentFetch {
    /// Creates a fetch of a document about the file of an attempt. The user's conditions for the file, such as its
    /// type, do not apply to the document.
    init(at url: SourceURL, for attempt: Attempt, sendsCredentials: Bool = true, acceptsCompressed: Bool?) {
        let context = attempt.context
        var asked = attempt.record.request
        asked.url = url
        asked.validation = ResponseValidation()
        asked.http.acceptsCompressed = acceptsCompressed
        self.init(
            asked, over: context.transport, userAgent: context.requests.userAgent, largest: Metalink.largest,
            strictHosts: context.strictHosts, sendsCredentials: sendsCredentials, time: context.time)
        remember(context.requests.memory(of: attempt.record.id, attempt.record.request))
    }
}

extension Metalink {
    /// Returns the file that lists one of these URLs. If no file does, returns the file with the name of one of the
    /// URLs, or else the only file of the document. Files of another size are left out. Nil if several files fit.
    func file(at urls: [SourceURL], size: Int64?) -> File? {
        let fitting = files.filter { $0.size == nil || size == nil || $0.size == size }
        let listed = fitting.filter { file in file.sources.contains { urls.contains($0.url) } }
        if !listed.isEmpty { return listed.count == 1 ? listed[0] : nil }
        let names = urls.compactMap { FileNaming.name(fromPath: $0.path) }
        let named = fitting.filter { file in names.contains(FileNaming.lastComponent(file.name)) }
        if !named.isEmpty { return named.count == 1 ? named[0] : nil }
        return files.count == 1 && size != nil ? fitting.first { $0.size == size } : nil
    }
}
