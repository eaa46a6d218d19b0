import CSystem
import DownloadCore
import DownloadSystem
import Foundation

/// The description of a partial file, in an extended attribute of the file (xattr(7)). If the store is lost, a new
/// download of the same URL in the store that took its place continues the file by its description. Only ranges that a
/// sync has made durable are in it: none in the description of a new file, which then only tells whose the file is.
package struct PartialDescription: Codable, Sendable, Equatable {
    /// The download that wrote the description.
    package let id: DownloadID
    /// The SHA-256 of the URL. Others may read the attribute, and the URL may contain secrets.
    package let url: String
    /// The SHA-256 of ``DownloadStore/path``, so that no other store takes the file.
    package let store: String
    package var resume: ResumeData

    /// Describes the file of a download. Nil if its bytes come from several sources, or from an earlier URL that is not
    /// proved to have the same file: the description has one version only.
    /// - Parameter store: The path of the store that has the download.
    package init?(_ record: DownloadRecord, in store: String) {
        guard record.resume.sources == nil, record.resume.movedFrom == nil,
            let url = try? TextDigest(record.request.url.string), let store = try? TextDigest(store)
        else { return nil }
        (id, self.url, self.store) = (record.id, url.hexadecimal, store.hexadecimal)
        resume = ResumeData()
        resume.validators = record.resume.validators
        resume.total = record.resume.total
        resume.contentType = record.resume.contentType
        resume.contentEncoding = record.resume.contentEncoding
        resume.acceptsRanges = record.resume.acceptsRanges
        resume.durable = record.resume.durable
        resume.file = record.resume.file
        resume.device = record.resume.device
        resume.modified = record.resume.modified
        resume.bootID = record.resume.bootID
        resume.digest = record.resume.digest
    }

    /// Keeps only what the file is, for a download that begins again in it.
    mutating func forgetRanges() {
        let (file, device) = (resume.file, resume.device)
        resume = ResumeData()
        (resume.file, resume.device) = (file, device)
    }

    // MARK: The attribute

    static let attribute = "user.dlm.download"
    /// The limit in bytes. Linux allows no more (xattr(7)), and most file systems much less.
    private static let longest = 65_536

    /// Writes the description to a file. If that fails, for example because the file system has no attributes, an
    /// earlier description stays. Its ranges are still durable.
    func write(to descriptor: Int32) {
        guard let data = try? JSONEncoder().encode(self), data.count <= Self.longest else { return }
        _ = data.withUnsafeBytes { dlm_set_attribute(descriptor, Self.attribute, $0.baseAddress, $0.count) }
    }

    static func remove(from descriptor: Int32) { dlm_remove_attribute(descriptor, attribute) }

    /// Returns the description of the partial file of `name`. Nil if the file has none, or if a download has locked the
    /// file.
    package static func read(in folder: String, name: String) -> PartialDescription? {
        let path = FileNaming.path(folder, FileNaming.partial(name))
        if PartialFile.isLocked(path) { return nil }
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = dlm_get_attribute(descriptor, attribute, &bytes, bytes.count)
        guard count > 0, let status = FileStatus.of(descriptor: descriptor), status.isRegular,
            var found = try? JSONDecoder().decode(PartialDescription.self, from: Data(bytes[..<count]))
        else { return nil }
        // The file may be a copy of the one that was described.
        (found.resume.file, found.resume.device) = (status.identity, status.device)
        return found
    }
}
