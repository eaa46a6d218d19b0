import ArgumentParser
import DownloadKit

/// The format of an archive, known by the name of the file, which programs of the system unpack.
struct ArchiveFormat {
    /// The programs that are needed. The first one is called, and tar calls the second one itself.
    let programs: [String]

    private static let all: [(endings: [String], programs: [String])] = [
        ([".zip"], ["unzip"]), ([".tar"], ["tar"]), ([".tar.gz", ".tgz"], ["tar", "gzip"]),
        ([".tar.zst", ".tzst"], ["tar", "zstd"]), ([".tar.xz", ".txz"], ["tar", "xz"]),
        ([".tar.bz2", ".tbz2", ".tbz"], ["tar", "bzip2"]),
    ]

    /// Returns nil if no archive that dlm unpacks has this name.
    init?(fileName: String) {
        let name = fileName.lowercased()
        guard let found = Self.all.first(where: { $0.endings.contains { name.hasSuffix($0) } }) else { return nil }
        programs = found.programs
    }

    static var names: String { all.flatMap(\.endings).joined(separator: ", ") }

    /// Returns the arguments of the program. It gets no option that would let an archive choose a place outside of the
    /// folder. It gives the files to the user who runs it, and asks for no password: a question would stop it.
    func words(archive: String, into folder: String) -> [String] {
        programs[0] == "unzip"
            ? ["-qq", "-o", "-P", "", Self.escaped(archive), "-d", folder]
            : ["-x", "-f", archive, "-C", folder, "--no-same-owner", "--no-same-permissions"]
    }

    /// unzip reads the name of the archive as a pattern.
    private static func escaped(_ path: String) -> String {
        String(path.flatMap { "*?[\\".contains($0) ? ["[", $0, "]"] : [$0] })
    }

    func requirePrograms(in environment: [String: String]) throws {
        guard let missing = programs.first(where: { environment.program($0) == nil }) else { return }
        throw ValidationError("--unpack: the archive needs the program \(missing), which is not in PATH; install it")
    }
}
