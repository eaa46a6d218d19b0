import Foundation

/// The partial file of an attempt, and what reads it a little behind the writes.
struct LocalFile {
    private(set) var file: PartialFile?
    /// The bytes of earlier attempts that were in the file when this attempt opened it.
    private(set) var inherited = ByteRanges()
    /// Hashes the file; nil where no digest is expected.
    private(set) var digest: FileDigest?
    /// Hashes the pieces of a file that several sources bring.
    private(set) var verifier: PieceVerifier?

    init() {}

    init(_ file: PartialFile, inherited: ByteRanges) {
        self.file = file
        self.inherited = inherited
    }

    mutating func startDigest(of checksum: Checksum?, on queue: DispatchQueue) {
        guard digest == nil, let file, let checksum else { return }
        digest = FileDigest(of: file, checksum: checksum, queue: queue)
        observeWrites()
    }

    mutating func endDigest() {
        digest?.abandon()
        digest = nil
    }

    mutating func startVerifier(_ verifier: PieceVerifier) {
        self.verifier = verifier
        observeWrites()
    }

    mutating func endVerifier() {
        verifier?.abandon()
        verifier = nil
    }

    /// Everything in the file belongs to another version.
    mutating func forgetInherited() { inherited = ByteRanges() }

    /// Removes the file if nothing was received in it.
    /// - Returns: whether the file was removed.
    mutating func removeIfEmpty() -> Bool {
        guard let file, file.written.isEmpty, file.failure != .fileFailed(.replaced, path: file.path) else {
            return false
        }
        file.remove()
        file.unlock()
        self.file = nil
        return true
    }

    /// Lets others open the file, whoever retains its object, and gives up what reads it.
    mutating func close() {
        file?.unlock()
        digest?.abandon()
        endVerifier()
    }

    private func observeWrites() {
        file?.notifyWrites { [weak digest, weak verifier] in
            digest?.advance()
            verifier?.advance()
        }
    }
}
