import DownloadCore

/// The partial file of an attempt, and the digests that are computed shortly after the writes.
struct LocalFile {
    private(set) var file: PartialFile?
    /// The bytes of earlier attempts that were in the file when this attempt opened it.
    var inherited = ByteRanges()
    /// The digest of the file; nil if no digest is expected.
    var digest: FileDigest? {
        didSet {
            oldValue?.abandon()
            observeWrites()
        }
    }
    /// The verifier of the pieces, if several sources are used and the digests of the pieces are known.
    var verifier: PieceVerifier? {
        didSet {
            oldValue?.abandon()
            observeWrites()
        }
    }

    /// Unlocks the file, so that the next attempt can open it while this object still exists. Ends the digests.
    mutating func close() {
        file?.unlock()
        digest = nil
        verifier = nil
    }

    /// Makes the file report its later writes to the current digests.
    private func observeWrites() {
        guard digest != nil || verifier != nil else {
            file?.notifyWrites(nil)
            return
        }
        file?.notifyWrites { [weak digest, weak verifier] in
            digest?.advance()
            verifier?.advance()
        }
    }
}
