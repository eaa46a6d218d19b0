import DownloadCore
import Glibc

extension CompletedFile {
    /// Creates the description of an existing file that is not changed.
    package init(_ path: String, _ existing: FileStatus.Info, _ validators: Validators = Validators()) {
        self.init(
            path: path, bytes: existing.size, identity: existing.identity, modified: existing.modified,
            validators: validators)
        wasCurrent = true
    }

    /// Whether the file at the path is still the finished file. A copy with the same size and modification time counts
    /// as the file, because backups and moves between disks make such copies. A record without an inode only shows that
    /// there was a file.
    package func isSame(as now: FileStatus.Info) -> Bool {
        identity.inode == 0 || now.isRegular && now.size == bytes && now.modified == modified
    }

    /// The fate of the file; nil if the status of its path cannot be read.
    fileprivate var fate: CompletedFileFate? {
        guard let now = FileStatus.of(path) else { return FileStatus.isAbsence(errno) ? .gone : nil }
        return isSame(as: now) ? .there : .changed
    }
}

extension DownloadRecord {
    /// The fate of the file of a completed download, found with one `statx` call.
    /// - Returns: Nil for a download without a finished file, and if the status cannot be read, for example in a folder
    ///   that the user may not enter.
    package var completedFileFate: CompletedFileFate? {
        guard state == .completed else { return nil }
        if let completed { return completed.isStream ? nil : completed.fate }
        // The record has no description of the file, so only the existence of the name can be checked.
        guard let finalPath else { return nil }
        return FileStatus.of(finalPath) != nil ? .there : FileStatus.isAbsence(errno) ? .gone : nil
    }

    /// Whether the finished file is gone, so that the download is fetched again when it is resumed. False if a program
    /// was run at the end, because this program may have moved the file. Also false for a changed file, because the
    /// change is the user's.
    package var lacksFile: Bool { completedFileFate == .gone && !runsProgramAtEnd }

    /// Forgets the file of a completed download if the file is gone, so that the download begins like a new one. A
    /// partial file of the same name belongs to another download.
    package mutating func forgetLostFile() {
        guard let completed, !completed.isStream, !isFinishing, resume == resume.afterCompletion, resume.sources == nil,
            !request.repairs, fileName.map({ $0 == FileNaming.lastComponent(completed.path) }) ?? true,
            completed.fate == .gone
        else { return }
        fileName = nil
        self.completed = nil
        resume = ResumeData()
    }
}
