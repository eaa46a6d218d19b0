import DownloadKit

/// A file to verify, with the record of its download.
struct VerifySubject {
    static let given = "given"

    let path: String
    /// The download of the file; nil for a file that dlm has not downloaded.
    let record: DownloadRecord?
    let label: String

    init(_ record: DownloadRecord) {
        self.record = record
        path = record.completed?.path ?? record.finalPath ?? record.displayName
        label = "\(record.id): \(record.displayName)"
    }

    /// Looks up the newest download whose finished file has this path.
    init(_ file: String, workingFolder: String?, _ service: any DownloadService) async throws {
        path = file
        label = file
        // Without a working folder, no record can be found for a relative name. Reading the file shows whether it
        // exists.
        guard let workingFolder = workingFolder ?? (file.hasPrefix("/") ? "/" : nil) else {
            record = nil
            return
        }
        let absolute = FolderPath.joined(workingFolder, file)
        let slash = absolute.utf8.lastIndex(of: UInt8(ascii: "/")) ?? absolute.startIndex
        let folder = FolderPath.canonical(String(absolute[..<slash]))
        let name = String(absolute[slash...].dropFirst())
        let selection = DownloadSelection(.file(folder: folder, name: name))
        record = try await service.snapshots(selection).map(\.record).last {
            $0.completed?.path == FileNaming.path(folder, name)
        }
    }

    var bytes: Int64? { record?.completed?.bytes }

    /// Returns the checksum that the file must match, and its source: `given`, `user` or `server`.
    /// - Parameter search: Looks up the digest of a finished file.
    func expected(
        _ checksum: Checksum?, _ list: ChecksumList?, isOnly: Bool, search: (DownloadRecord) async -> Checksum?
    ) async throws(DownloadError) -> (Checksum, source: String) {
        if let record, record.completed == nil {
            throw .verificationFailed(
                .unverifiable("not complete: \(record.state.kind.rawValue); see: dlm show \(record.id)"))
        }
        if let checksum { return (checksum, Self.given) }
        if let list {
            let paths = [path, record.map { ChecksumList.path($0.request.url) }].compactMap(\.self)
            return (try list.checksum(forFirstOf: paths, isOnly: isOnly), Self.given)
        }
        if let verified = record?.completed?.verified { return (verified.checksum, verified.source.rawValue) }
        let why = try unknown()
        if let record, let found = await search(record) { return (found, ChecksumSource.server.rawValue) }
        throw .verificationFailed(.unverifiable(why))
    }

    /// Returns why the file cannot be verified. Throws if it is missing or has another size, because these are worse.
    private func unknown() throws(DownloadError) -> String {
        let size = try FileHash.size(of: path)
        let remedy = "give one with --checksum or --checksum-file"
        guard let bytes else { return "no checksum is known; \(remedy)" }
        if size != bytes { throw .verificationFailed(.size(expected: bytes, actual: size)) }
        return "its size is right, but no checksum is known; \(remedy)"
    }
}
