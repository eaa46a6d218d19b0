import HTTPTypes

/// Where the server names a Metalink document for the file (RFC 6249 section 4.1), its mirrors and digests are gone by.
extension DownloadRunner {
    /// For the document, redirects and all; the file waits for it.
    private static var limit: Duration { .seconds(FaultPoint.limit("DLM_FAULT_DOCUMENT_SECONDS", 10.0)) }

    /// - Returns: what the answer has come to meanwhile.
    @inline(never)
    func readingDescription(_ opening: Opening) async throws -> Opening {
        guard let url = describingDocument() else { return opening }
        let asked = requestForDescription(url)
        var fetch = DocumentFetch(
            asked, over: context.transport, userAgent: context.userAgent, largest: Metalink.largest,
            strictHosts: context.strictHosts, sendsCredentials: asked.url.origin == record.request.url.origin,
            time: context.time)
        fetch.remember(context.memory(of: record))
        let task = Self.begin(fetch, for: control)
        defer { task.cancel() }
        var ending = opening.result
        while true {
            switch try await nextMessage() {
            case .segmentFinished(let segment, let result) where segment === opening.scout: ending = result
            case .documentCame(let answer):
                noteDescription(answer, url)
                return Opening(scout: opening.scout, route: opening.route, result: ending)
            default: continue
            }
        }
    }

    private static func begin(_ fetch: DocumentFetch, for control: RunnerControl) -> Task<Void, Never> {
        Task {
            let answer = await fetch.once(within: limit)
            control.send(.documentCame(answer))
        }
    }

    /// That the answer names for the file, where it is to be asked.
    private func describingDocument() -> SourceURL? {
        guard record.request.followsMetalink, record.request.describedName == nil, !isMirror else { return nil }
        if record.request.describedBy != nil {
            // The URL itself says anew what the file is.
            guard record.resume.written.isEmpty, !record.request.repairs else { return nil }
            record.request.forgetDescription()
        }
        guard record.request.mirrors.isEmpty, record.request.pieces == nil, let url = links?.document,
            url != record.request.url, record.request.url.scheme != "https" || url.scheme == "https",
            record.request.onlyScheme ?? url.scheme == url.scheme
        else { return nil }
        return url
    }

    private func requestForDescription(_ url: SourceURL) -> DownloadRequest {
        var asked = record.request
        asked.url = url
        // That is about the file.
        asked.validation = ResponseValidation()
        asked.http.acceptsCompressed = nil
        return asked
    }

    private func noteDescription(_ answer: Result<[UInt8], DownloadError>, _ url: SourceURL) {
        do throws(DownloadError) {
            description = (try Metalink(try answer.get(), name: url.string), url)
        } catch {
            refuseDescription("\(url): \(error)")
        }
    }

    /// The file is what was asked for: it is fetched as if there were no document.
    private func refuseDescription(_ why: String) {
        var book = record.resume.sources ?? SourceBook()
        book.documentFailure = RequestSecrets(record.request, secrets).hidden(in: why)
        record.resume.sources = book
    }

    /// Where the document means what the answer brings, it is believed as the answer itself is: its digest is the
    /// server's.
    @inline(never)
    func takeDescription() {
        guard let (metalink, document) = description else { return }
        description = nil
        let url = record.request.url
        let urls = [url] + [record.resume.finalURL].compactMap(\.self)
        guard let file = metalink.file(at: urls, size: record.resume.total) else {
            return refuseDescription("\(document): it describes other files")
        }
        let known = [record.request.checksum, record.resume.digest].compactMap(\.self)
        if let digest = file.checksum, known.contains(where: { $0.algorithm == digest.algorithm && $0 != digest }) {
            return refuseDescription("\(document): it describes another version of the file")
        }
        if asksForDigest, let digest = file.checksum, record.resume.digest.map({ digest.isPreferred(to: $0) }) ?? true {
            record.resume.digest = digest
        }
        guard let total = record.resume.total else { return }
        let pieces = file.pieces.flatMap { $0.fits(size: total) ? $0 : nil }
        guard expected != nil || pieces != nil else { return }
        record.resume.sources?.documentFailure = nil
        record.request.describedBy = document
        record.request.size = total
        record.request.pieces = pieces
        record.request.mirrors = file.sources(preferring: record.request.location).filter(mayBeMirror)
    }

    /// Whoever asked over TLS is not sent elsewhere without.
    func mayBeMirror(_ mirror: SourceURL) -> Bool {
        let url = record.request.url
        return mirror != url && (url.scheme != "https" || mirror.scheme == "https")
            && record.request.onlyScheme ?? mirror.scheme == mirror.scheme
    }
}

extension Checksum {
    fileprivate func isPreferred(to other: Checksum) -> Bool {
        let order = Algorithm.preferred
        return order.firstIndex(of: algorithm) ?? order.count < order.firstIndex(of: other.algorithm) ?? order.count
    }
}

extension Metalink {
    /// The one file that is meant: it lists one of these URLs, has the name of one, or is alone and has the size.
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
