import Foundation
import NIOCore
import NIOHTTP1

/// A part of an answer. The task that answers the request sends the part to the connection's channel.
enum AnswerPart: Sendable {
    case head(HTTPResponseHead, isEndless: Bool)
    case body(ByteBuffer)
    case end(keepAlive: Bool)
    /// A small answer, in one piece.
    case whole(HTTPResponseHead, ByteBuffer, keepAlive: Bool)
}

/// A writer for one answer. Each call returns when the kernel has taken the bytes, so a slow client delays only its own
/// answer. If a client does not take a piece within ``ControlLimits/write``, its connection is closed.
package struct AnswerWriter: Sendable {
    let channel: any Channel
    let gate: EventLoopGate
    let limits: ControlLimits
    /// Whether the request is HEAD, whose answer has no body (RFC 9110 section 9.3.2).
    let isHead: Bool
    /// Compresses the bytes of the answer; nil to send them as they are.
    var gzip: Gzip?

    /// The most bytes of one piece. The time limit applies to each piece.
    static let pieceSize = 64 << 10

    package func write(_ bytes: Data) async throws { try await write(plain: gzip?.compressed(bytes) ?? bytes) }

    private func write(plain bytes: Data) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Self.pieceSize)
            rest = rest.dropFirst(piece.count)
            try await send(.body(ByteBuffer(bytes: piece)))
        }
    }

    func send(_ part: AnswerPart) async throws {
        let (channel, limit) = (channel, TimeAmount(limits.write))
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let isRunning = gate.execute {
                let deadline = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
                channel.writeAndFlush(part).whenComplete { result in
                    deadline.cancel()
                    continuation.resume(with: result)
                }
            }
            if !isRunning { continuation.resume(throwing: ChannelError.ioOnClosedChannel) }
        }
    }

    /// Sends the whole answer. Closes the connection if the answer cannot be completed.
    func send(_ answer: ControlAnswer, keepAlive: Bool) async {
        let keepAlive = keepAlive && !answer.endsConnection
        do {
            let head = Self.head(answer, keepAlive: keepAlive)
            if case .whole(let bytes) = answer.body, bytes.count <= Self.pieceSize || isHead, answer.gzip == nil {
                let body = isHead ? ByteBuffer() : ByteBuffer(bytes: bytes)
                return try await send(.whole(head, body, keepAlive: keepAlive))
            }
            try await send(.head(head, isEndless: answer.isEndless))
            var writer = self
            writer.gzip = answer.gzip
            switch answer.body {
            case .whole(let bytes): try await writer.write(bytes)
            case .stream(let produce): try await produce(writer)
            }
            if let gzip = answer.gzip { try await write(plain: gzip.compressed(Data(), isEnd: true)) }
            try await send(.end(keepAlive: keepAlive))
        } catch {
            _ = gate.execute { [channel] in channel.close(promise: nil) }
        }
    }

    static func head(_ answer: ControlAnswer, keepAlive: Bool) -> HTTPResponseHead {
        var headers: HTTPHeaders = ["Content-Type": answer.contentType, "Dlm-Api": "\(WireCoder.version)"]
        switch answer.body {
        case .whole(let bytes) where answer.gzip == nil: headers.add(name: "Content-Length", value: "\(bytes.count)")
        default: headers.add(name: "Transfer-Encoding", value: "chunked")
        }
        headers.add(contentsOf: answer.headers)
        if !keepAlive { headers.add(name: "Connection", value: "close") }
        return HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status), headers: headers)
    }
}
