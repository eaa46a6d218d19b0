import DownloadCore
import DownloadSystem

/// The step for an answer that is a Metalink document: the file that the document describes is downloaded instead.
struct MetalinkAnswer: AttemptPhase {
    let attempt: Attempt

    @inline(never)
    func isAnswered(by head: ResponseHead) -> Bool {
        Metalink.isDocument(head) && record.request.followsMetalink && record.request.describedName == nil
            && record.resume.written.isEmpty && context.stream == nil && record.request.asksRanges
    }

    /// Fetches the document, and changes the request to the file that it describes. A document that describes several
    /// files is downloaded itself.
    @inline(never)
    func follow() async throws {
        await attempt.endTransfers()
        try attempt.obeyStop()
        let url = record.request.url
        let fetch = DocumentFetch(
            at: url, for: attempt, acceptsCompressed: record.request.http.acceptsCompressed)
        let metalink = try Metalink(try await fetch.run(), name: url.string)
        guard metalink.files.count == 1, let file = metalink.files.first else {
            record.request.followsMetalink = false
            return
        }
        try ask(for: file)
    }

    private func ask(for file: Metalink.File) throws(DownloadError) {
        let path = try file.path()
        let url = record.request.url
        var sources = file.sources(preferring: record.request.location)
        // If the document came over TLS and has no digest, the file is not fetched without TLS.
        if url.scheme == "https", file.checksum == nil { sources.removeAll { $0.scheme != "https" } }
        if let only = record.request.onlyScheme { sources.removeAll { $0.scheme != only } }
        guard !sources.isEmpty else {
            throw .protocolViolated(.badMetalink("\(url): \(file.name): it has no usable URL"))
        }
        record.request.mirrors = sources
        record.request.size = file.size
        record.request.pieces = file.pieces
        record.request.checksum = record.request.checksum ?? file.checksum
        record.request.describedName = path.name
        record.resume.sources = nil
    }
}
