import Dispatch
import DownloadCore
import DownloadKitTesting
import Foundation
import HTTPTypes
import Synchronization

/// A transport without a network. It plays the script of a ``FaultServer``, or given heads and bodies, to the sink on a
/// thread of its own.
package final class FakeTransport: Transport {
    /// The answer to one request.
    package enum Exchange: Sendable {
        /// The answer of a server with this script. A cut is a lost connection. A stall lasts until `cancel`.
        case reply(FaultReply)
        /// A failure without an answer.
        case failure(DownloadError)
        /// A head, pieces of a body, and the ending. A nil ending means that nothing more happens until `cancel`.
        case scripted(ResponseHead, body: [[UInt8]], ending: TransferResult.Ending?)
    }

    package typealias Script = @Sendable (TransferRequest, FaultRequest) -> Exchange

    private struct State {
        var requests: [TransferRequest] = []
        var transfers: [ScriptedTransfer] = []
        var isDown = false
    }

    /// The times that transfers take, on the clock of a test.
    package struct Laws: Sendable {
        let time: any TimeSource
        /// The time after which a stalled transfer fails, as libcurl lets it fail.
        let patience: Duration
        /// Returns the time until the answer to a request begins, and the time before each piece of its body.
        let delays: @Sendable (FaultRequest) -> (head: Duration, piece: Duration)

        package init(
            time: any TimeSource, patience: Duration,
            delays: @escaping @Sendable (FaultRequest) -> (head: Duration, piece: Duration)
        ) {
            self.time = time
            self.patience = patience
            self.delays = delays
        }
    }

    private let script: Script
    private let laws: Laws?
    private let state = Mutex(State())
    private let log = Observed<[TransferRequest]>([])

    /// Creates a transport. The script gets the request as the caller made it, and as a server would read it (numbered
    /// from 1).
    /// - Parameter laws: nil for transfers that take no time, and whose stalls last until `cancel`.
    package init(laws: Laws? = nil, _ script: @escaping Script) {
        self.script = script
        self.laws = laws
    }

    package convenience init(serving reply: FaultReply) { self.init { _, _ in .reply(reply) } }

    /// All requests so far, in order.
    package var requests: [TransferRequest] { log.value }

    /// Waits for this many requests. Returns false if they do not come within the limit.
    package func waitForRequests(_ count: Int, atMost limit: Duration = .seconds(45)) async -> Bool {
        await log.wait(atMost: limit) { $0.count >= count }
    }

    package func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        let number = log.update { requests -> Int in
            requests.append(request)
            return requests.count
        }
        var asked = FaultRequest()
        asked.number = number
        asked.target = request.url.path
        asked.fields = request.options.fields.map { ($0.name.rawName, $0.value) }
        if let range = request.range { asked.fields.append(("Range", "bytes=\(range)")) }
        let exchange =
            state.withLock { $0.isDown }
            ? Exchange.failure(.sessionUnavailable(.shuttingDown)) : script(request, asked)
        let pace = laws.map { laws in
            let (head, piece) = laws.delays(asked)
            return ScriptedTransfer.Pace(time: laws.time, patience: laws.patience, head: head, piece: piece)
        }
        let transfer = ScriptedTransfer(Playback(exchange, request: request, asked: asked), pace, sink: sink)
        state.withLock { $0.transfers.append(transfer) }
        transfer.begin()
        return transfer
    }

    package func shutdown() {
        let left = state.withLock { state in
            state.isDown = true
            return state.transfers
        }
        for transfer in left { transfer.cancel() }
    }
}

extension Transport {
    /// Returns an allowance without limits. Transports of tests have no limits unless they implement this function.
    package func allowance(under limits: [RateLimit]) -> any RateAllowance { BoundlessAllowance() }
}

extension Playback {
    init(_ exchange: FakeTransport.Exchange, request: TransferRequest, asked: FaultRequest) {
        self.init()
        switch exchange {
        case .failure(let error): ending = .failed(error)
        case .scripted(let head, let body, let ending):
            self.head = head
            pieceCount = body.count
            piece = { body[$0] }
            self.ending = ending
        case .reply(let reply): play(reply, request: request, asked: asked)
        }
    }

    private mutating func play(_ reply: FaultReply, request: TransferRequest, asked: FaultRequest) {
        let lost = TransferResult.Ending.failed(
            .networkFailed(.connectionLost, TransportDiagnosis(code: 18, message: "the script ended it")))
        if reply.cut == .silence {
            ending = lost
            return
        }
        let resolved = ResolvedReply(reply, to: asked)
        var body: [ResolvedReply.Piece] = []
        for piece in resolved.pieces {
            guard case .content(let range) = piece else {
                body.append(piece)
                continue
            }
            let starts = stride(from: range.lowerBound, to: range.upperBound, by: Int(Self.pieceSize))
            body += starts.map { .content($0..<min($0 + Self.pieceSize, range.upperBound)) }
        }
        let size = resolved.size
        head = Self.head(resolved, reply.framing, size: size, request: request)
        switch reply.cut {
        case .stall: ending = nil
        case .close, .reset, .corruptRecord, .halfRecord: ending = lost
        case .silence, nil: if case .wrongLength(let more) = reply.framing, more > 0 { ending = lost }
        }
        trailers = Self.trailers(reply.lastChunk)
        let kept = Self.clip(body, to: min(size, reply.cut?.limit ?? size))
        pieceCount = kept.count
        piece = { index in
            switch kept[index] {
            case .text(let text): Array(text.utf8)
            case .content(let range): resolved.content.bytes(range)
            }
        }
    }

    /// Returns the fields after the last chunk; nil if there are none. Over HTTP/2, they may follow a body with a
    /// `Content-Length`, too.
    private static func trailers(_ lastChunk: String) -> HTTPFields? {
        let fields = lastChunk.split(separator: "\r\n").compactMap { line -> HTTPField? in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { return nil }
            return HTTPField(name: name, value: parts[1].trimmingCharacters(in: .whitespaces))
        }
        return fields.isEmpty ? nil : HTTPFields(fields)
    }

    private static func clip(_ body: [ResolvedReply.Piece], to limit: Int64) -> [ResolvedReply.Piece] {
        var left = limit
        return body.compactMap { piece in
            guard left > 0 else { return nil }
            switch piece {
            case .text(let text):
                left -= Int64(text.utf8.count)
                return piece
            case .content(let range):
                let count = min(left, Int64(range.count))
                left -= count
                return .content(range.lowerBound..<range.lowerBound + count)
            }
        }
    }

    private static func head(
        _ reply: ResolvedReply, _ framing: FaultReply.Framing, size: Int64, request: TransferRequest
    ) -> ResponseHead {
        var fields = reply.fields
        if !fields.contains(where: { $0.name == "Date" }) { fields.append(("Date", HTTPDate.string(Date()))) }
        fields += framing.lengths(of: size).map { ("Content-Length", $0) }
        if framing.isChunked { fields.append(("Transfer-Encoding", "chunked")) }
        return ResponseHead(status: reply.status, fields: fields, from: request.url)
    }
}
