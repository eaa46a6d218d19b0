import DownloadKit
import DownloadStoragePostgres

/// The form of a request in a shared queue: columns for URL and place, and a document that most URLs of a list share.
enum QueuedRequest {
    /// The greatest length of a URL in bytes, which is also the greatest length in a manifest.
    private static let longestURL = 64 << 10

    /// Returns the reason why a request cannot be in a queue, or nil if it can. Everyone who may read the queue would
    /// see the secrets of the request. With hooks, everyone who may add to the queue could run programs on the machines
    /// of all workers.
    static func refusal(of request: DownloadRequest) -> String? {
        if request.hasSecrets || request.headers.contains(where: { $0.value == nil }) {
            return "a shared queue stores no secrets (passwords, tokens, cookies, request bodies)"
        }
        if request.secretFiles != SecretFiles() { return "a shared queue stores no references to files with secrets" }
        if request.hooks != nil { return "a shared queue stores no programs to run" }
        if request.startsPaused { return "a shared queue is paused as a whole or by host; leave out --paused" }
        let urls = [request.url] + request.mirrors + [request.describedBy].compactMap(\.self)
        if urls.contains(where: { $0.scheme == "file" }) {
            return "file URLs mean another file on each machine"
        }
        if request.url.host.utf8.count > 255 { return "no host has a name of more than 255 bytes" }
        if request.url.string.utf8.count > longestURL { return "the URL is longer than 64 KiB" }
        return nil
    }

    /// - Parameter base: the folder of the command. A worker can replace it by another folder.
    static func item(_ request: DownloadRequest, base: String, _ documents: inout Documents) throws -> QueueItem {
        let folder = relative(request.destination.folder, to: base)
        return QueueItem(
            url: request.url.string, host: request.url.host, document: try documents.text(of: request, base: base),
            folder: folder, name: request.destination.fileName)
    }

    /// Returns the folder relative to the base, or the absolute folder if it is not inside the base.
    private static func relative(_ folder: String, to base: String) -> String {
        if folder == base { return "" }
        let start = base.hasSuffix("/") ? base : base + "/"
        return folder.hasPrefix(start) ? String(folder.dropFirst(start.count)) : folder
    }

    /// The writer of documents. It remembers the last one, because neighbours in a list usually share it.
    struct Documents {
        private var last: (request: DownloadRequest, text: String)?

        mutating func text(of request: DownloadRequest, base: String) throws -> String {
            var shared = request
            shared.url = RequestDocument.placeholder
            shared.destination.folder = base
            shared.destination.fileName = nil
            if let last, last.request == shared { return last.text }
            let text = try RequestDocument(shared).text()
            last = (shared, text)
            return text
        }
    }

    /// Returns the request for a leased URL.
    /// - Parameter folder: The folder of the worker, outside of which no file is put; nil for the document's folder.
    static func request(
        _ item: LeasedItem, _ document: DownloadRequest, folder: String?
    ) throws(DownloadError) -> DownloadRequest {
        var request = document
        request.url = try RequestMaker.address(item.url).get().0
        // The end of a download is reported under the URL in the form that dlm writes.
        guard request.url.string == item.url else {
            throw .requestInvalid(.notForScheme(request.url.string, what: "the queue has the URL in another form"))
        }
        // The kernel compares bytes, and a slash with a combining mark is another Character than a slash.
        let slash = UInt8(ascii: "/")
        let isAbsolute = item.folder.utf8.first == slash
        let parts = item.folder.utf8.split(separator: slash)
        let isOutside = parts.contains { $0.elementsEqual("..".utf8) } || folder != nil && isAbsolute
        guard !isOutside, item.name.map(FileNaming.isUsable) ?? true else {
            throw .fileFailed(.nameOutside, path: item.folder.isEmpty ? item.name ?? "" : item.folder)
        }
        let base = folder ?? document.destination.folder
        request.destination.folder =
            isAbsolute ? item.folder : item.folder.isEmpty ? base : FileNaming.path(base, item.folder)
        request.destination.fileName = item.name
        if let reason = refusal(of: request) { throw .requestInvalid(.notForScheme(request.url.string, what: reason)) }
        try RequestDocument.requirePossible(request)
        return request
    }
}
