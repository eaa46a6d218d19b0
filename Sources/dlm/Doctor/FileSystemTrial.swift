import CSystem
import Glibc

/// The abilities of a folder's file system. They are tried in the folder with files that are deleted afterwards.
struct FileSystemTrial: Equatable, Sendable {
    var name: String?
    var isRemote = false
    /// The free space for this user, in bytes.
    var free: Int64 = 0
    /// The errno of opening the folder or creating a file; nil if both worked.
    var failure: Int32?
    // The errno of each operation that was tried; 0 if the operation works.
    var preallocation: Int32 = 0
    var rename: Int32 = 0
    var unnamed: Int32 = 0
    var lock: Int32 = 0
    /// Whether a rename to an existing name fails and replaces nothing.
    var keepsTaken = true

    init() {}

    init(folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            failure = errno
            return
        }
        defer { close(descriptor) }
        let system = dlm_file_system_of(descriptor)
        name = system.name.map { String(cString: $0) }
        isRemote = system.is_remote
        var information = statvfs()
        if fstatvfs(descriptor, &information) == 0 {
            free = Int64(
                clamping: UInt64(information.f_bavail).multipliedReportingOverflow(by: UInt64(information.f_frsize)).0)
        }
        attempt(in: descriptor)
    }

    private mutating func attempt(in folder: Int32) {
        let first = ".dlm-doctor-\(getpid())"
        let (second, third) = (first + "-b", first + "-c")
        let file = openat(folder, first, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            failure = errno
            return
        }
        let other = openat(folder, second, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        defer {
            for name in [first, second, third] { unlinkat(folder, name, 0) }
            for descriptor in [file, other] where descriptor >= 0 { close(descriptor) }
        }
        preallocation = code(dlm_preallocate(file, 4096))
        lock = code(dlm_lock_exclusive(file))
        if other >= 0 { keepsTaken = code(dlm_rename_no_replace(folder, first, second)) == EEXIST }
        rename = code(dlm_rename_no_replace(folder, first, third))
        let nameless = dlm_open_unnamed(folder)
        unnamed = code(nameless)
        if nameless >= 0 { close(nameless) }
    }

    private func code(_ result: Int32) -> Int32 { result < 0 ? errno : 0 }
}

/// The findings from a trial, for the folder of downloads or of the store.
struct FileSystemFindings {
    enum Purpose: String {
        case downloads = "working"
        case state
    }

    let purpose: Purpose
    let path: String
    let trial: FileSystemTrial

    private var isState: Bool { purpose == .state }
    private var name: String { purpose.rawValue }
    /// The exit status with which dlm ends if it cannot write to the folder.
    private var status: Int32 { isState ? 12 : 3 }
    private var elsewhere: String { isState ? "set XDG_STATE_HOME to a folder" : "give a folder with -d that is" }

    /// The free space, in bytes, below which a large download may not fit.
    private static let littleSpace: Int64 = 64 << 20

    var findings: [Finding] {
        if let failure = trial.failure {
            let folder = isState ? "set XDG_STATE_HOME to a folder" : "give a folder with -d"
            return [
                .problem(
                    .files, name, status, "\(path): cannot write: \(String(cString: strerror(failure)))",
                    advice: "check who owns it, or \(folder) that you can write to")
            ]
        }
        return [abilities, space] + (trial.isRemote ? [network] : [])
    }

    private var abilities: Finding {
        let tried = [
            ("rename without replacing", trial.rename == 0 && trial.keepsTaken),
            ("preallocation", trial.preallocation == 0), ("files without a name", trial.unnamed == 0),
            ("locks", trial.lock == 0),
        ]
        let text = path + (trial.name.map { " (\($0))" } ?? "") + ": " + Finding.list(tried)
        if trial.rename != 0 || !trial.keepsTaken {
            return .problem(
                .files, name, status, text,
                advice: "a finished file cannot get its name here; \(elsewhere) on another disk")
        }
        if trial.lock != 0 {
            return .warning(
                .files, name, text, advice: "two processes could write one file; \(elsewhere) on a local disk")
        }
        if trial.preallocation != 0, trial.name != "tmpfs" {
            return .warning(
                .files, name, text,
                advice: "a full disk is noticed only during a download, and files may be fragmented")
        }
        return .ok(.files, name, text)
    }

    private var space: Finding {
        let text = "\(Units.size(trial.free)) free"
        if trial.free < 1 << 20 {
            return .problem(
                .files, "\(name) space", status, text, advice: "free some space, or \(elsewhere) on another disk")
        }
        if trial.free < Self.littleSpace {
            return .warning(.files, "\(name) space", text, advice: "free some space before a large download")
        }
        return .ok(.files, "\(name) space", text)
    }

    private var network: Finding {
        let advice =
            isState
            ? "SQLite's log needs a local disk; set XDG_STATE_HOME to a folder on a local disk"
            : "downloads work, but changes by other programs to a partial file may go unnoticed; a local disk is safer"
        return .warning(.files, name, "\(path) is on a network file system (\(trial.name ?? "?"))", advice: advice)
    }
}
