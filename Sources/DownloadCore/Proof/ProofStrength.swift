/// How much a server's digest says about a file. A digest from the server of the file finds damage, but somebody who
/// replaces the file on that server can replace the digest, too.
package enum ProofStrength: String, Codable, Sendable {
    case sameServer, otherServer

    package var words: String { self == .sameServer ? "same server" : "other server" }

    /// Returns the strength of the digest with which the file was verified. Nil if the user gave the checksum, or if
    /// there is none.
    package init?(of record: DownloadRecord) {
        guard let verified = record.completed?.verified, verified.source == .server else { return nil }
        let field = verified.checksum.field ?? ""
        // All other fields count in the answer with the file only.
        let isLinked = field == StorageDigest.linkedField
        let document = isLinked ? record.request.url : (try? SourceURL.parse(field).get().url)
        let host = (record.resume.finalURL ?? record.request.url).host
        self = document?.host ?? host == host ? .sameServer : .otherServer
    }
}
