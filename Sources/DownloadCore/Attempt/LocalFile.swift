/// The partial file of an attempt, and what reads it a little behind the writes.
struct LocalFile {
    private(set) var file: PartialFile?
    /// The bytes of earlier attempts that were in the file when this attempt opened it.
    var inherited = ByteRanges()
    /// Hashes the file; nil where no digest is expected.
    var digest: FileDigest? {
        didSet {
            oldValue?.abandon()
            observeWrites()
        }
    }
    /// Hashes the pieces of a file that several sources bring.
    var verifier: PieceVerifier? {
        didSet {
            oldValue?.abandon()
            observeWrites()
        }
    }

    init() {}

    init(_ file: PartialFile, inherited: ByteRanges) {
        self.file = file
        self.inherited = inherited
    }

    /// Lets others open the file, whoever retains its object, and gives up what reads it.
    mutating func close() {
        file?.unlock()
        digest = nil
        verifier = nil
    }

    /// Reports the writes to those that read now.
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
