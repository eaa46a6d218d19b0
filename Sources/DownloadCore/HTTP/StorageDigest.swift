import Foundation
import HTTPTypes

/// The digests that storage services state in fields of their own: Google Cloud Storage, Amazon S3, Azure Blob Storage
/// and the Hugging Face Hub. They are of the stored object, so they count in an answer with a part of it, too, unless a
/// comment says otherwise.
///
/// A right download fails if a digest is believed wrongly. So a field counts only in the form that its service
/// documents, and of two digests that contradict each other neither counts.
package enum StorageDigest {
    /// Returns the digests in the head of an answer with content of the file.
    static func checksums(of head: ResponseHead) -> [Checksum] {
        guard head.status == 200 || head.status == 206 else { return [] }
        let found = google(head) + azure(head) + amazon(head)
        return found.filter { one in found.allSatisfy { $0.algorithm != one.algorithm || $0 == one } }
    }

    /// Reads `x-goog-hash: crc32c=BASE64,md5=BASE64`. The digests are of the object as it is stored (Cloud Storage,
    /// "Hashes and ETags"), so they say nothing about an answer that the service has decompressed ("Transcoding").
    private static func google(_ head: ResponseHead) -> [Checksum] {
        guard let value = text("x-goog-hash", head) else { return [] }
        let coding = ResponseJudge.contentEncoding(head)
        guard text("x-goog-stored-content-encoding", head)?.lowercased() ?? "identity" == coding ?? "identity"
        else { return [] }
        return ServerDigest.instance(value) { name in [.crc32c, .md5].first { $0.rawValue == name.lowercasedASCII } }
            .map { $0.stated(in: "x-goog-hash") }
    }

    /// Reads `x-ms-blob-content-md5`, which Azure sends with a part ("Get Blob"). Page blobs and append blobs are
    /// changed in place, and keep the digest that their owner has set.
    private static func azure(_ head: ResponseHead) -> [Checksum] {
        let field = "x-ms-blob-content-md5"
        guard let value = text(field, head), text("x-ms-blob-type", head) == "BlockBlob",
            ResponseJudge.contentEncoding(head) == nil
        else { return [] }
        return ServerDigest.plain(value, .md5).map { $0.stated(in: field) }
    }

    /// Reads the checksums of S3 and of services like it, and the ETag of S3.
    private static func amazon(_ head: ResponseHead) -> [Checksum] {
        guard text("x-amz-request-id", head) != nil, ResponseJudge.contentEncoding(head) == nil else { return [] }
        let found = isMD5(ofTag: head) ? tag("ETag", head.fields.value(.eTag), .md5) : []
        // A composite checksum is of the checksums of the parts, and ends with `-N`. In an answer with a part of the
        // object, the checksum may be of an uploaded part (S3 User Guide, "Checking object integrity").
        guard ServerDigest.coversWhole(head), text("x-amz-checksum-type", head) ?? "FULL_OBJECT" == "FULL_OBJECT"
        else { return found }
        return found
            + amazonFields.flatMap { name, algorithm in
                ServerDigest.plain(text(name, head), algorithm).map { $0.stated(in: name) }
            }
    }

    /// The checksums that S3 sends to a request with `x-amz-checksum-mode: ENABLED` (S3 API Reference, "GetObject").
    private static let amazonFields = [Checksum.Algorithm.sha256, .sha1, .md5, .crc64nvme, .crc32c, .crc32]
        .map { ("x-amz-checksum-\($0.rawValue)", $0) }

    /// Returns whether an ETag of 32 digits is the MD5 digest of the object (S3 API Reference, "Object"): in S3 itself,
    /// without encryption or with that of S3, and not in S3 Express One Zone or another file system behind S3. A proxy
    /// that removes one of the first three fields may have removed the field about the encryption, too.
    private static func isMD5(ofTag head: ResponseHead) -> Bool {
        head.fields.value(.server) == "AmazonS3" && text("x-amz-id-2", head) != nil
            && text("x-amz-server-side-encryption", head) ?? "AES256" == "AES256"
            && text("x-amz-server-side-encryption-customer-algorithm", head) == nil
            && amazonClasses.contains(text("x-amz-storage-class", head) ?? "STANDARD")
    }

    private static let amazonClasses: Set = [
        "STANDARD", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "REDUCED_REDUNDANCY", "GLACIER", "GLACIER_IR",
        "DEEP_ARCHIVE",
    ]

    /// The digest and the size that a redirect states for the file to which it leads.
    package struct Linked: Sendable {
        package let checksum: Checksum
        /// The size of the file in bytes.
        package let size: Int64
    }

    static let linkedField = "X-Linked-Etag"

    /// Reads the SHA-256 digest and the size of a large file in a redirect of the Hugging Face Hub (`X-Linked-Etag`,
    /// huggingface_hub, `file_download.py`). For a small file, the field is Git's own digest, which is shorter.
    ///
    /// The redirect and all that follow it are encrypted, because no redirect leads from https to http. A file that
    /// does not have the size is not the one that the redirect means.
    package static func linked(by head: ResponseHead, from url: SourceURL) -> Linked? {
        guard head.redirectURL != nil, url.scheme == "https", let size = text("x-linked-size", head)?.utf8.decimal
        else { return nil }
        return tag(linkedField, text("x-linked-etag", head), .sha256).first.map { Linked(checksum: $0, size: size) }
    }

    /// Returns the digest in a strong ETag of hexadecimal digits.
    private static func tag(_ field: String, _ value: String?, _ algorithm: Checksum.Algorithm) -> [Checksum] {
        guard let tag = value.flatMap({ EntityTag(fieldValue: $0) }), !tag.isWeak,
            let checksum = Checksum(hex: tag.opaque.utf8), checksum.algorithm == algorithm
        else { return [] }
        return [checksum.stated(in: field)]
    }

    private static func text(_ name: String, _ head: ResponseHead) -> String? { head.fields.value(of: name) }
}

extension Checksum {
    /// Returns the checksum as one that the field, or the document with this URL, stated.
    package func stated(in field: String) -> Checksum {
        var checksum = self
        checksum.field = field
        return checksum
    }
}
