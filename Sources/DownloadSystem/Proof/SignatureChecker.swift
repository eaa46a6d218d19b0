import CSystem
import DownloadCore
import Foundation

/// The check of a signature over open files: with gpgv, or with OpenSSL.
struct SignatureChecker: Sendable {
    let program: OpenPGPProgram?
    let queue: DispatchQueue
    let time: any TimeSource
    var isUnwanted: @Sendable () -> Bool

    /// The size in bytes up to which files are read into memory, because signify signs a file without a digest.
    private static let largestUnhashed = 64 << 20

    /// - Parameter file: The signed file; nil if the signature has the signed text inside, which is then returned.
    func finding(
        _ signature: [UInt8], over file: Int32?, by key: SigningKey
    ) async -> (finding: SignatureFinding, text: [UInt8]) {
        switch key {
        case .openPGP(let ring, let fingerprint):
            guard let program else { return (.bad("cannot be checked"), []) }
            return await program.finding(signature, over: file, ring, fingerprint, time)
        case .ed25519(let number, let key, let isMinisign):
            guard let signature = Ed25519Signature(signature) else { return (.bad("is no signature of minisign"), []) }
            if let problem = signature.problem(number: number, isMinisign: isMinisign) { return (problem, []) }
            let message = await queue.run { [isUnwanted] () -> [UInt8]? in
                guard let file else { return signature.rest }
                return signature.isHashed ? Self.digest(of: file, unless: isUnwanted) : Self.content(of: file)
            }
            guard let message else {
                return (.bad("cannot be checked: without a digest, only files of at most 64 MiB can be signed"), [])
            }
            return (signature.finding(over: message, key: key), signature.rest)
        }
    }

    /// Checks the signature of a list that files share, so it does not end with one of them.
    /// - Parameter list: The list; nil if the signature has the list inside, which is then returned.
    func finding(
        _ signature: [UInt8], overList list: [UInt8]?, by key: SigningKey
    ) async -> (finding: SignatureFinding, text: [UInt8]) {
        let memory = list.map { dlm_memory_file($0, $0.count) }
        defer { if let memory { close(memory) } }
        var checker = self
        checker.isUnwanted = { false }
        return await checker.finding(signature, over: memory, by: key)
    }

    private static func content(of file: Int32) -> [UInt8]? {
        FileBytes.read(file, 0..<Int64(largestUnhashed + 1)).flatMap { $0.count <= largestUnhashed ? $0 : nil }
    }

    /// Returns the BLAKE2b-512 digest, which minisign signs.
    private static func digest(of file: Int32, unless isUnwanted: () -> Bool) -> [UInt8]? {
        guard let digest = dlm_digest_create("blake2b512") else { return nil }
        defer { dlm_digest_free(digest) }
        var (buffer, out) = ([UInt8](repeating: 0, count: 1 << 20), [UInt8](repeating: 0, count: 64))
        var size: Int64 = 0
        while !isUnwanted() {
            guard let count = buffer.withUnsafeMutableBytes({ FileBytes.read(file, into: $0, at: size) }) else { break }
            if count == 0 { return dlm_digest_finish(digest, &out) == 64 ? out : nil }
            guard dlm_digest_update(digest, buffer, count) == 0 else { break }
            size += Int64(count)
        }
        return nil
    }
}

/// The program that checks OpenPGP signatures: gpgv. It runs without an environment and without a home folder, and reads
/// only the open files that it is given. sqv is not used, because it does not tell signatures of bytes from those of text.
struct OpenPGPProgram: Sendable {
    private let path: String

    init() throws(DownloadError) {
        guard let path = ProcessInfo.processInfo.environment.program("gpgv") else {
            throw .verificationFailed(
                .unverifiable("OpenPGP signatures are checked by the program gpgv; install the package gpgv"))
        }
        self.path = path
    }

    /// - Parameter file: The signed file; nil if the signature has the signed text inside, which is then returned.
    func finding(
        _ signature: [UInt8], over file: Int32?, _ ring: [UInt8], _ fingerprint: String?, _ time: any TimeSource
    ) async -> (finding: SignatureFinding, text: [UInt8]) {
        // The descriptors 3 to 6 of the program; 1 is the text, and 2 is what it tells people.
        // The outputs have a limit, because a compressed packet can be a thousand times as long as the document.
        let made =
            [dlm_memory_box(Self.most), dlm_memory_file(ring, ring.count), dlm_memory_file(signature, signature.count)]
            + [dlm_memory_box(Self.most), dlm_memory_box(Self.most)]
        defer { for descriptor in made where descriptor >= 0 { close(descriptor) } }
        guard made.allSatisfy({ $0 >= 0 }) else { return (.bad("cannot be checked: no memory"), []) }
        let given = file.map { [$0] } ?? []
        let words =
            ["--keyring", "/proc/self/fd/4"] + (file == nil ? ["-o", "-"] : [])
            + [5, 6].prefix(1 + given.count).map { "/proc/self/fd/\($0)" }
        let size = file.flatMap { FileStatus.of(descriptor: $0)?.size } ?? 0
        let ending: UserProgram.Ending
        do throws(UserProgram.StartFailure) {
            let process = try UserProgram.start(
                path, ["--homedir", "/nonexistent", "--status-fd", "3"] + words, environment: [:],
                folder: "/", input: "", outputs: (made[3], made[4]), files: Array(made[..<3]) + given, time: time)
            // A slow disk reads 10 MB a second.
            ending = await process.end(within: .seconds(60 + size / 10_000_000))
        } catch {
            return (.bad("cannot be checked: \(path): \(error.text)"), [])
        }
        guard case .exited(let code?) = ending else { return (.bad("cannot be checked: gpgv did not end"), []) }
        let (status, text) = (Self.content(of: made[0]), Self.content(of: made[3]))
        let finding = SignatureFinding(gpgv: status, code, fingerprint: fingerprint, isDetached: file != nil)
        return (finding, Array(text.utf8))
    }

    private static let most = 2 * ChecksumList.largest

    /// Returns what the program has written to its output, of which the offset is shared.
    private static func content(of file: Int32) -> String {
        String(decoding: FileBytes.read(file, 0..<Int64(lseek(file, 0, SEEK_CUR))) ?? [], as: UTF8.self)
    }
}
