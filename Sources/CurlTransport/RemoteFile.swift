import CCurl
import DownloadCore
import Foundation
import HTTPTypes

/// What a server without HTTP says of its file, and how far a transfer of it has come. The answer is told in the words
/// of HTTP, so that it is judged by the same rules: 206 for what begins where it was asked to, 200 for the whole.
struct RemoteFile: Equatable {
    /// Where the transfer begins.
    private(set) var offset: Int64
    /// One past the last byte that is wanted; nil for an open end. The server is not told: of a part it would not say how
    /// large the whole is.
    let end: Int64?
    let asksRange: Bool
    var hasHead = false
    /// The server's key, where it was refused.
    var hostKey: HostKey?
    /// A login was refused for its number.
    private(set) var hasNoRoom = false
    /// Why it could not be read: it is looked whether it is a folder, which can be opened like a file.
    private(set) var suspicion: DownloadError?

    struct HostKey: Equatable {
        let isChanged: Bool
        /// As OpenSSH shows it; nil where it cannot be told.
        let fingerprint: String?
    }

    /// - Parameter range: as in ``TransferRequest/range``.
    init(range: String?) {
        let parts = range?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        asksRange = range != nil
        offset = parts.first.flatMap { Int64($0) } ?? 0
        end = parts.count == 2 ? Int64(parts[1]).map { $0 + 1 } : nil
    }

    /// It cannot be sent from there on: all of it is asked for.
    mutating func beginAtStart() {
        offset = 0
        hasHead = false
    }

    mutating func lookForFolder(because error: DownloadError) {
        suspicion = error
        beginAtStart()
    }

    /// A reply on the control connection (RFC 959 section 4.2). Some servers say of one login too many what others say of
    /// a wrong password.
    mutating func note(reply: UnsafeRawBufferPointer) {
        guard reply.starts(with: "530".utf8) else { return }
        let text = String(decoding: reply.prefix(200), as: UTF8.self).lowercased()
        if ["too many", "maximum", "connections"].contains(where: { text.contains($0) }) { hasNoRoom = true }
    }

    /// - Parameters:
    ///   - rest: the number of bytes from the offset on; nil when it is not told.
    ///   - modified: in seconds since 1970; nil when it is not told.
    ///   - isEmpty: nothing came.
    /// - Returns: nil when it must begin at the start.
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

    /// A piece of a file that comes without a head.
    func takePart(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        let disposition = takeWanted(bytes)
        if disposition == .refuse { hangUp() }
        return disposition
    }

    /// Its connection is of no use any more. libcurl would still say farewell to an SSH server, and wait for all that was
    /// asked for ahead; its thread does nothing else meanwhile.
    func hangUp() {
        guard request.url.known.isSSH, easy != nil, !needsOwnConnection, let socket else { return }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    private func takeWanted(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        if remote?.suspicion != nil {
            verdict = Self.folder
            return .refuse
        }
        guard openPart(isEmpty: false) else { return .refuse }
        guard let remote, let end = remote.end else { return offer(bytes) }
        // Of what comes again, `ahead` bytes were taken.
        let wanted = Int(clamping: max(0, end - remote.offset - received)) + ahead
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted))
        let disposition = offer(part)
        guard disposition == .taken, bytes.count >= wanted else { return disposition }
        verdict = .complete
        return .refuse
    }

    /// Tells what the server says of the file, once. False ends the transfer.
    private func openPart(isEmpty: Bool) -> Bool {
        guard let file = remote, !file.hasHead else { return remote?.hasHead == true }
        guard let easy, let sink else { return false }
        let isSeekable = request.url.known != .scp
        let (rest, modified) = (easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T), easy.offset(CURLINFO_FILETIME_T))
        guard let head = file.head(rest: rest, modified: modified, isEmpty: isEmpty, isSeekable: isSeekable) else {
            return startAgain()
        }
        remote?.hasHead = true
        if trace != nil, let names = easy.tlsNames {
            trace?.tlsVersion = names.version
            trace?.cipher = names.cipher
        }
        switch sink.transferDidReceiveHead(head) {
        case .accept: return true
        case .discard: verdict = .complete
        case .refuse: verdict = .refused
        }
        return false
    }

    private func startAgain() -> Bool {
        needsOwnConnection = true
        remote?.beginAtStart()
        return false
    }

    /// libcurl is done with it: an empty file has no piece that could tell of it.
    func noteEnd(_ code: CURLcode) {
        _ = presentChallenge()
        guard let file = remote, !file.hasHead, verdict == nil, !needsOwnConnection else { return }
        if let suspicion = file.suspicion {
            verdict = code == CURLE_OK ? Self.folder : .failed(suspicion)
            return
        }
        switch code {
        case CURLE_OK: _ = openPart(isEmpty: true)
        // It is shorter now, or the server cannot go on from within a file.
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
