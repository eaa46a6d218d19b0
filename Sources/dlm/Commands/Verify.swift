import ArgumentParser
import DownloadKit
import Foundation

struct Verify: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check finished files against their checksums.",
        discussion: """
            Without a checksum, a file is checked against the checksum with which its download was verified: the \
            checksum given then, or the server's digest. If there was none, the digest is looked up beside the file on \
            the server, such as in SHA256SUMS. Prints a line for each file. The exit status is 0 only if all \
            files were verified. A file without a known checksum cannot be verified.
            """)

    @Argument(
        help: ArgumentHelp(
            "Numbers of finished downloads, such as 3 or 5-8, or files; write ./3 for a file named 3.",
            valueName: "id or file"),
        completion: .file())
    var targets: [String]

    @OptionGroup(title: "Trust") var checksums: ChecksumOptions

    @Flag(help: "With --signed-by, accept a list that was signed before the last list that was seen in its folder.")
    var allowRollback = false

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(in context: Context) async throws -> Int32 {
        let list = try await checksums.list(in: context) {
            DownloadRequest(url: $0, destination: Destination(folder: "/"))
        }
        return try await context.withService { service in
            let subjects = try await subjects(service, workingFolder: context.workingFolder)
            if checksums.checksum != nil, subjects.count > 1 {
                throw ValidationError("--checksum is for a single file; for several give --checksum-file")
            }
            var statuses: Set<Int32> = []
            for subject in subjects {
                let document = await document(of: subject, list, isOnly: subjects.count == 1, in: context)
                tell(document, subject, context.console)
                if let error = document.error { statuses.insert(error.exitStatus) }
            }
            return statuses.exitStatus
        }
    }

    /// Returns the files to verify, in the order given. Unknown download numbers throw before any file is read.
    private func subjects(_ service: any DownloadService, workingFolder: String?) async throws -> [VerifySubject] {
        var subjects: [VerifySubject] = []
        for target in targets {
            if let range = try? IDRange(argument: target) {
                subjects += try await service.known([range].ids).map { VerifySubject($0.record) }
            } else {
                subjects.append(try await VerifySubject(target, workingFolder: workingFolder, service))
            }
        }
        return subjects
    }

    private func document(
        of subject: VerifySubject, _ list: ChecksumList?, isOnly: Bool, in context: Context
    ) async -> VerifiedDocument {
        var document = VerifiedDocument(subject)
        do throws(DownloadError) {
            if !checksums.signedBy.isEmpty {
                document.signedBy = try await signature(of: subject, in: context).key
                document.verified = true
                if checksums.given == nil, list == nil { return document }
                document.verified = false
            }
            let (checksum, source) = try await subject.expected(checksums.given, list, isOnly: isOnly) {
                await Self.found(for: $0, in: context)
            }
            document.checksum = checksum.description
            document.source = source
            // A checksum that is given with this command identifies the file, so the recorded size is not compared.
            let size = source == VerifySubject.given ? nil : subject.bytes
            let hash = try await FileHash.of(
                subject.path, checksum.algorithm, size: size, on: DispatchQueue(label: "dlm.verify"))
            document.bytes = hash.size
            if hash.digest != checksum.digest {
                throw .verificationFailed(.checksum(expected: checksum, actual: hash.digest))
            }
            document.verified = true
        } catch {
            document.error = ErrorDocument(error)
        }
        return document
    }

    /// Looks for a good signature of a finished file, beside the URL from which it came.
    private func signature(
        of subject: VerifySubject, in context: Context
    ) async throws(DownloadError) -> FileSignature {
        guard var record = subject.record else {
            throw .verificationFailed(.unverifiable("no URL is known, beside which its signature could be looked up"))
        }
        record.request.signedBy = ChecksumOptions.keys(checksums.signedBy)
        (record.request.allowsRollback, record.request.trustsFirstUse) = (allowRollback, false)
        var check = try SignatureCheck(for: record)
        let queue = DispatchQueue(label: "dlm.verify")
        let (request, final) = (record.request, record.resume.finalURL)
        let state = try SessionConfiguration.stateFolder(environment: context.environment)
        return try await check.signature(
            of: subject.path, on: queue,
            judge: { folder, verdict in verdict(DownloadSession.knowledge(of: folder, stateFolder: state)) }
        ) {
            await Self.fetched(ProofPlan.request(for: $0, like: request, redirectedTo: final), in: context)
        }
    }

    /// Looks up the digest of a finished file beside the file, whatever was asked when it was downloaded.
    private static func found(for record: DownloadRecord, in context: Context) async -> Checksum? {
        var record = record
        record.request.proof = .require
        record.resume.proof = nil
        var plan = ProofPlan(for: record)
        while let url = plan?.next {
            let request = ProofPlan.request(for: url, like: record.request)
            plan?.handle(await fetched(request, in: context).map { ProofDocument($0) })
        }
        return plan?.outcome.found
    }

    private static func fetched(
        _ request: DownloadRequest, in context: Context
    ) async -> Result<[UInt8], DownloadError> {
        do {
            return .success(try await context.fetch(request, ChecksumList.largest, context.environment, context.time))
        } catch {
            return .failure(error as? DownloadError ?? .unexpected("\(error)"))
        }
    }

    private func tell(_ document: VerifiedDocument, _ subject: VerifySubject, _ console: Console) {
        if output.json {
            console.print(document.json)
        } else if !output.quiet {
            console.print(path: "\(document.path): \(document.verified ? "OK" : "FAILED")")
        }
        if let error = document.error {
            // The message for an unreadable file already names the file.
            console.report(error.kind == "file" ? error.message : "\(subject.label): \(error.message)")
        } else if output.verbose > 0, !output.quiet {
            let checksum = document.checksum.map { "\($0) verified (\(document.source ?? ""))" }
            let signature = document.signedBy.map { "signed by \($0)" }
            console.report("\(subject.label): \([checksum, signature].compactMap(\.self).joined(separator: ", "))")
        }
    }
}
