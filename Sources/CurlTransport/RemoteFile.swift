import CCurl
import DownloadCore
import Foundation
import HTTPTypes

/// The facts that an FTP or SSH server reports about a file, and the progress of the transfer of the file. The facts
/// are put into an HTTP head, so that the rules for HTTP responses apply. Status 206 stands for a part that begins at
/// the requested offset, 200 for the whole file, and 416 for an offset at the end of the file.
struct RemoteFile: Equatable {
    /// The offset at which the transfer begins, in bytes.
    private(set) var offset: Int64
    /// The offset after the last byte that is wanted; nil for an open end. The request to the server does not contain
    /// this end, because the server would then not report the size of the whole file.
    let end: Int64?
    let asksRange: Bool
    var hasHead = false
    /// The server's key, if the key was refused.
    var hostKey: HostKey?
    /// Whether the server refused a login because it has too many connections.
    private(set) var hasNoRoom = false
    /// The error of the first read, while the transfer then checks whether the path is a folder; otherwise nil. A
    /// folder can be opened like a file.
    private(set) var suspicion: DownloadError?

    struct HostKey: Equatable {
        let isChanged: Bool
        /// The fingerprint of the key, in the format of OpenSSH; nil if it is not known.
        let fingerprint: String?
    }

    /// - Parameter range: as in ``TransferRequest/range``.
    init(range: String?) {
        let parts = range?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        asksRange = range != nil
        offset = parts.first.flatMap { Int64($0) } ?? 0
        end = parts.count == 2 ? Int64(parts[1]).map { $0 + 1 } : nil
    }

    /// Makes the next request start at the beginning of the file.
    mutating func beginAtStart() {
        offset = 0
        hasHead = false
    }

    mutating func lookForFolder(because error: DownloadError) {
        suspicion = error
        beginAtStart()
    }

    /// Records a reply on the control connection (RFC 959 section 4.2). Some servers answer a login beyond their
    /// limit of connections with 530, like a wrong password. Only the text of the reply shows the difference.
    mutating func note(reply: UnsafeRawBufferPointer) {
        guard reply.starts(with: "530".utf8) else { return }
        let text = String(decoding: reply.prefix(200), as: UTF8.self).lowercased()
        if ["too many", "maximum", "connections"].contains(where: { text.contains($0) }) { hasNoRoom = true }
    }

    /// Returns an HTTP head that describes the file.
    /// - Parameters:
    ///   - rest: the number of bytes from the offset on; nil if the server does not report it.
    ///   - modified: in seconds since 1970; nil if the server does not report it.
    ///   - isEmpty: whether no bytes came.
    /// - Returns: nil if the transfer must start at the beginning of the file.
    func head(rest: Int64?, modified: Int64?, isEmpty: Bool, isSeekable: Bool) -> ResponseHead? {
        var fields = HTTPFields()
        if let modified { fields[.lastModified] = HTTPDate.format(Date(timeIntervalSince1970: Double(modified))) }
        func head(_ status: Int) -> ResponseHead { ResponseHead(status: status, httpVersion: "", fields: fields) }
        guard let rest = rest ?? (isEmpty ? 0 : nil) else { return offset > 0 ? nil : head(200) }
        let total = offset + rest
        if offset > 0, rest == 0 {
            fields[.contentRange] = "bytes */\(total)"
            return head(416)
        }
        guard asksRange, isSeekable, total > 0 else {
            fields[.contentLength] = "\(total)"
            return head(200)
        }
        fields[.contentRange] = "bytes \(offset)-\(min(total, end ?? total) - 1)/\(total)"
        return head(206)
    }
}

extension CurlTransfer {
    var needsNudging: Bool { remote?.hasHead == false && request.url.known.isFTP }

    /// Handles a piece of a file from an FTP or SSH server.
    func takePart(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        let disposition = takeWanted(bytes)
        if disposition == .refuse { hangUp() }
        return disposition
    }

    /// Shuts down the SSH connection of a transfer that is not needed any more. Otherwise libcurl would close the
    /// session in the regular way, and wait for all bytes that it has requested in advance. The thread could do nothing
    /// else meanwhile.
    func hangUp() {
        guard request.url.known.isSSH, easy != nil, !needsOwnConnection, let socket else { return }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    private func takeWanted(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        if remote?.suspicion != nil {
            ownEnding = Self.folder
            return .refuse
        }
        guard openPart(isEmpty: false) else { return .refuse }
        guard let remote, let end = remote.end else { return offer(bytes) }
        // The sink may already have taken the first bytes of this piece. `received` includes them.
        let wanted = Int(clamping: max(0, end - remote.offset - delivery.received)) + delivery.ahead
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted))
        let disposition = offer(part)
        guard disposition == .taken, bytes.count >= wanted else { return disposition }
        ownEnding = .complete
        return .refuse
    }

    /// Presents to the sink the head that describes the file, unless the sink has it already. Returns false to end the
    /// transfer.
    private func openPart(isEmpty: Bool) -> Bool {
        guard let file = remote, !file.hasHead else { return remote?.hasHead == true }
        guard let easy, let sink else { return false }
        let isSeekable = request.url.known != .scp
        let (rest, modified) = (easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T), easy.offset(CURLINFO_FILETIME_T))
        guard let head = file.head(rest: rest, modified: modified, isEmpty: isEmpty, isSeekable: isSeekable) else {
            return startAgain()
        }
        remote?.hasHead = true
        traceTLS()
        switch sink.transferDidReceiveHead(head) {
        case .accept: return true
        case .discard: ownEnding = .complete
        case .refuse: ownEnding = .refused
        }
        return false
    }

    private func startAgain() -> Bool {
        needsOwnConnection = true
        remote?.beginAtStart()
        return false
    }

    /// Handles the end of the transfer in libcurl. This method presents the head of an empty file, because no piece
    /// arrives for an empty file.
    func noteEnd(_ code: CURLcode) {
        _ = presentChallenge()
        guard let file = remote, !file.hasHead, ownEnding == nil, !needsOwnConnection else { return }
        if let suspicion = file.suspicion {
            ownEnding = code == CURLE_OK ? Self.folder : .failed(suspicion)
            return
        }
        switch code {
        case CURLE_OK: _ = openPart(isEmpty: true)
        // The file is shorter now, or the server cannot send a file from an offset.
        case CURLE_BAD_DOWNLOAD_RESUME, CURLE_FTP_COULDNT_USE_REST, CURLE_RANGE_ERROR:
            if file.offset > 0 { _ = startAgain() }
        case CURLE_SSH where request.url.known == .sftp:
            guard let failure = easy?.failure(code, of: self) else { return }
            needsOwnConnection = true
            remote?.lookForFolder(because: failure)
        default: break
        }
    }

    private static let folder = TransferResult.Ending.failed(
        .serverRefused(status: 0, phrase: "it is a folder; give the URL of a file"))
}
