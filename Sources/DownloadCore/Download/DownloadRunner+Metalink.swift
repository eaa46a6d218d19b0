import HTTPTypes

/// Where the answer is a Metalink document, the file that it describes is downloaded.
extension DownloadRunner {
    func followsMetalink(_ head: ResponseHead) -> Bool {
        Metalink.isDocument(head) && record.request.followsMetalink && record.request.describedName == nil
            && record.resume.written.isEmpty && context.stream == nil && record.request.asksRanges
    }

    /// The request is about the described file then; a document of several files is a file itself.
    func followMetalink() async throws {
        await endSegments()
        try obeyStop()
        let url = record.request.url
        var asked = record.request
        asked.validation = ResponseValidation()
        var fetch = DocumentFetch(
            asked, over: context.transport, userAgent: context.userAgent, largest: Metalink.largest,
            strictHosts: context.strictHosts, time: context.time)
        fetch.remember(context.memory(of: record))
        let bytes = try await fetch.run()
        let metalink = try Metalink(bytes, name: url.string)
        guard metalink.files.count == 1, let file = metalink.files.first else {
            record.request.followsMetalink = false
            return
        }
        try take(file)
    }

    private func take(_ file: Metalink.File) throws(DownloadError) {
        let path = try file.path()
        let url = record.request.url
        var sources = file.sources(preferring: record.request.location)
        // Whoever gave the document over TLS did not mean the file to be anybody's to change.
        if url.scheme == "https", file.checksum == nil { sources.removeAll { $0.scheme != "https" } }
        if let only = record.request.onlyScheme { sources.removeAll { $0.scheme != only } }
        guard !sources.isEmpty else {
            throw .protocolViolated(.badMetalink("\(url): \(file.name): it has no URL that can be used"))
        }
        record.request.mirrors = sources
        record.request.size = file.size
        record.request.pieces = file.pieces
        record.request.checksum = record.request.checksum ?? file.checksum
        record.request.describedName = path.name
        record.resume.sources = nil
    }
}

extension Metalink {
    static func isDocument(_ head: ResponseHead) -> Bool {
        guard let type = head.fields.value(.contentType), type.utf8.count < 100 else { return false }
        return type.utf8.contains(UInt8(ascii: "+")) && ResponseJudge.mediaType(head).map(types.contains) ?? false
    }
}
