/// A reply for a known request: the bytes that go over the wire.
package struct ResolvedReply: Sendable {
    /// A piece of the body.
    package enum Piece: Sendable {
        case text(String)
        case content(Range<Int64>)
    }

    package var status: Int
    package var fields: [(name: String, value: String)]
    package var content: Content
    package var pieces: [Piece] = []

    package var size: Int64 {
        pieces.reduce(0) { sum, piece in
            switch piece {
            case .text(let text): sum + Int64(text.utf8.count)
            case .content(let range): sum + Int64(range.count)
            }
        }
    }

    package init(_ reply: FaultReply, to request: FaultRequest) {
        status = reply.status
        fields = reply.fields
        content = reply.content
        if let etag = reply.etag { fields.append(("ETag", etag)) }
        if let date = reply.lastModified { fields.append(("Last-Modified", date)) }
        if reply.honoursConditions, reply.isNotModified(for: request) {
            status = 304
            return
        }
        var asked = request.range(in: content.size)
        if reply.ranges != .ignored {
            fields.append(("Accept-Ranges", "bytes"))
            if reply.ranges != .honouredBlindly, let condition = request["If-Range"],
                !reply.isStill(condition)
            {
                asked = .whole
            }
        }
        if reply.ranges.refuses, asked != .whole { asked = .unsatisfiable }
        switch (reply.ranges, asked) {
        case (.ignored, _), (_, .whole): pieces = [.content(0..<content.size)]
        case (.refusedNaming(let value), .unsatisfiable): refuse(naming: value)
        case (_, .unsatisfiable): refuse(naming: "bytes */\(content.size)")
        case (let behaviour, .part(let range)): take(range, behaviour)
        }
    }

    private mutating func refuse(naming contentRange: String?) {
        status = 416
        if let contentRange { fields.append(("Content-Range", contentRange)) }
        pieces = [.text("<html><body>416</body></html>\n")]
    }

    private mutating func take(_ range: Range<Int64>, _ behaviour: FaultReply.RangeBehaviour) {
        status = 206
        let total = content.size
        var named = range
        var sent = range
        var namedTotal = "\(total)"
        var padding = 0
        switch behaviour {
        case .honoured, .honouredBlindly, .ignored, .refused, .refusedNaming, .withoutContentRange, .contentRange,
            .multipart:
            break
        case .wrongStart(let shift):
            let start = max(0, min(total - 1, range.lowerBound + shift))
            named = start..<max(start + 1, range.upperBound)
            sent = named
        case .blockStart(let size):
            named = range.lowerBound - range.lowerBound % size..<range.upperBound
            sent = named
        case .wrongBytes(let shift):
            let start = max(0, min(range.lowerBound + shift, total))
            sent = start..<min(start + Int64(range.count), total)
            padding = range.count - sent.count
        case .wrongEnd(let shift):
            named = range.lowerBound..<max(range.lowerBound + 1, min(total, range.upperBound + shift))
            sent = named
        case .wrongTotal(let more): namedTotal = "\(total + more)"
        case .withoutTotal: namedTotal = "*"
        case .wrongBody(let more):
            sent = range.lowerBound..<max(range.lowerBound, min(total, range.upperBound + more))
            padding = Int(max(0, more - (sent.upperBound - range.upperBound)))
        }
        let contentRange = "bytes \(named.lowerBound)-\(named.upperBound - 1)/\(namedTotal)"
        switch behaviour {
        case .withoutContentRange: pieces = [.content(sent)]
        case .contentRange(let value):
            fields.append(("Content-Range", value))
            pieces = [.content(sent)]
        case .multipart:
            fields.append(("Content-Type", "multipart/byteranges; boundary=dlm-boundary"))
            pieces = [
                .text("--dlm-boundary\r\nContent-Range: \(contentRange)\r\n\r\n"), .content(sent),
                .text("\r\n--dlm-boundary--\r\n"),
            ]
        default:
            fields.append(("Content-Range", contentRange))
            pieces = [.content(sent), .text(String(repeating: "x", count: padding))]
        }
    }
}

extension FaultReply.RangeBehaviour {
    fileprivate var refuses: Bool {
        switch self {
        case .refused, .refusedNaming: true
        default: false
        }
    }
}

extension FaultReply {
    /// Returns whether the answer is 304. `If-None-Match` compares weakly and takes precedence over the date (RFC 9110,
    /// section 13.2.2).
    fileprivate func isNotModified(for request: FaultRequest) -> Bool {
        if let tags = request["If-None-Match"], let etag {
            return tags.replacing("W/", with: "") == etag.replacing("W/", with: "")
        }
        guard let lastModified, request["If-None-Match"] == nil else { return false }
        return request["If-Modified-Since"] == lastModified
    }

    /// Returns whether an `If-Range` condition holds (RFC 9110, section 13.1.5). Only a strong ETag or the exact date
    /// holds.
    fileprivate func isStill(_ condition: String) -> Bool {
        if condition.hasPrefix("\"") { return condition == etag }
        return condition == lastModified
    }
}
