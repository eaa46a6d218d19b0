import DownloadCore
import Foundation

/// The JSON fields of each value that is stored in a row. They have the order in which the properties are declared,
/// because Codable writes them in this order.
extension ResumeData {
    func write(to json: inout JSONWriter) {
        json.field("validators", object: validators.write)
        json.field("total", total)
        json.field("finalURL", finalURL?.string)
        json.field("contentType", contentType)
        json.field("contentEncoding", contentEncoding)
        json.field("acceptsRanges", acceptsRanges)
        json.field("written", written.ranges, JSONWriter.range)
        json.field("durable", durable.ranges, JSONWriter.range)
        if let file { json.field("file", object: file.write) }
        json.field("modified", modified)
        json.field("device", device)
        json.field("bootID", bootID)
        if let mismatched { json.field("mismatched", object: mismatched.write) }
        if let digest { json.field("digest", object: digest.write) }
        if let verified {
            json.field("verified") { (json: inout JSONWriter) in
                json.field("checksum", object: verified.checksum.write)
                json.field("source", verified.source.rawValue)
            }
        }
        json.field("servedName", servedName)
        json.field("movedFrom", movedFrom?.string)
        if let sources { json.field("sources", object: sources.write) }
    }
}

extension SourceBook {
    func write(to json: inout JSONWriter) {
        json.field("current", current)
        json.field("owner", owner)
        json.field("standings", standings) { (json: inout JSONWriter, standing: SourceStanding) in
            json.object { json in
                json.field("url", standing.url)
                json.field("received", standing.received)
                json.field("failure", standing.failure)
                json.field("isOut", standing.isOut)
                json.field("isFinal", standing.isFinal)
            }
        }
        json.field("isAlone", isAlone)
        json.field("isInnocent", isInnocent)
        json.field("documentFailure", documentFailure)
    }
}

extension AttemptRecord {
    func write(to json: inout JSONWriter) {
        json.field("started", started.timeIntervalSinceReferenceDate)
        if let ended { json.field("ended", ended.timeIntervalSinceReferenceDate) }
        json.field("received", received)
        json.field("connections", connections)
        json.field("connectionReason", connectionReason)
        json.field("redirects", redirects)
        if let metrics { json.field("metrics", object: metrics.write) }
        json.field("outcome", outcome)
    }
}

extension TransferMetrics {
    func write(to json: inout JSONWriter) {
        json.field("remoteAddress", remoteAddress)
        json.field("remotePort", remotePort)
        json.field("httpVersion", httpVersion)
        json.field("status", status)
        json.field("reusedConnection", reusedConnection)
        json.field("nameLookup", nameLookup)
        json.field("connect", connect)
        json.field("tls", tls)
        json.field("firstByte", firstByte)
        json.field("total", total)
        json.field("received", received)
    }
}

extension TransferMetrics {
    /// Writes the elements of the column `metrics`, which has no names (``StoredMetrics``).
    func writeElements(to json: inout JSONWriter) {
        json.element(remoteAddress)
        json.element(remotePort)
        json.element(httpVersion)
        json.element(status)
        json.element(reusedConnection)
        for time in [nameLookup, connect, tls, firstByte, total] { json.element(time) }
        json.element(received)
    }
}

/// The metrics in the column `metrics`.
struct StoredMetrics: Decodable {
    private(set) var metrics = TransferMetrics()

    init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        metrics.remoteAddress = try elements.decode(String?.self)
        metrics.remotePort = try elements.decode(Int?.self)
        metrics.httpVersion = try elements.decode(String?.self)
        metrics.status = try elements.decode(Int?.self)
        metrics.reusedConnection = try elements.decode(Bool.self)
        metrics.nameLookup = try elements.decode(Double.self)
        metrics.connect = try elements.decode(Double.self)
        metrics.tls = try elements.decode(Double.self)
        metrics.firstByte = try elements.decode(Double.self)
        metrics.total = try elements.decode(Double.self)
        metrics.received = try elements.decode(Int64.self)
    }
}

extension CompletedFile {
    func write(to json: inout JSONWriter) {
        json.field("path", path)
        json.field("bytes", bytes)
        json.field("identity", object: identity.write)
        json.field("modified", modified)
        json.field("validators", object: validators.write)
        if let checksum { json.field("checksum", object: checksum.write) }
        json.field("verifiedBy", verifiedBy?.rawValue)
        if let mismatched { json.field("mismatched", object: mismatched.write) }
        json.field("wasCurrent", wasCurrent)
    }
}

extension Validators {
    func write(to json: inout JSONWriter) {
        if let etag {
            json.field("etag") { (json: inout JSONWriter) in
                json.field("isWeak", etag.isWeak)
                json.field("opaque", etag.opaque)
            }
        }
        json.field("lastModified", lastModified)
        json.field("lastModifiedIsStrong", lastModifiedIsStrong)
    }
}

extension FileIdentity {
    func write(to json: inout JSONWriter) {
        json.field("inode", inode)
        json.field("born", born)
    }
}

extension Checksum {
    func write(to json: inout JSONWriter) {
        json.field("algorithm", algorithm.rawValue)
        json.field("digest", digest)
    }
}

extension JSONWriter {
    static func attempts(_ attempts: some Sequence<AttemptRecord>) -> String {
        text { json in json.array(attempts) { $0.object($1.write) } }
    }

    static func range(_ json: inout JSONWriter, _ range: Range<Int64>) {
        json.array([range.lowerBound, range.upperBound]) { $0.value($1) }
    }
}
