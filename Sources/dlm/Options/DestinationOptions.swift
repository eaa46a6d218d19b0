import ArgumentParser
import DownloadKit
import Foundation

/// The options for the folders and names of the files of `get`.
struct DestinationOptions: OptionTable {
    var output: String?
    var directory: String?
    var ifExists: Destination.IfExists?
    var continues = false
    var contentDisposition: ContentDispositionFlag?
    var remoteTime: RemoteTimeFlag?

    func validate() throws {
        if let directory, directory.isEmpty { throw ValidationError("-d: no folder given") }
        if continues, let ifExists, ifExists != .fail {
            throw ValidationError("-c continues the existing file; leave out --if-exists \(ifExists.rawValue)")
        }
        guard let output else { return }
        if output == Self.stream { return }
        if output.hasSuffix("/") { throw ValidationError("-o \(output): names a folder; give folders with -d") }
        let name = String(output.split(separator: "/").last ?? "")
        if ["", ".", ".."].contains(name) { throw ValidationError("-o: no file name given") }
        if !FileNaming.isUsable(name) {
            throw ValidationError("-o: the name is too long; give at most \(FileNaming.longest) bytes")
        }
        if output.hasPrefix("/"), directory != nil { throw ValidationError("-d and -o both name a folder; give one") }
    }

    mutating func rows(_ row: inout OptionRows) {
        let workingFolder = row.workingFolder
        row(
            &output, "output", letter: "o", in: .file, .path("file"),
            "Write to this file; missing folders are created. With - the file goes to standard output: it is "
                + "verified only at the end (status 9), and the download is not recorded. It has one connection, "
                + "unless -x is given.")
        row(
            &directory, "directory", letter: "d", usual: ".", .path("dir", .directory),
            "Put the files into this folder, which is created if missing. Default: the current folder.",
            .sets { request, directory in
                guard let start = directory.hasPrefix("/") ? "" : workingFolder else { throw Self.noWorkingFolder }
                request.destination.folder = FolderPath.canonical(FolderPath.joined(start, directory))
            })
        row.change { request in
            // A relative folder in the value of --output starts at the folder of --directory.
            if let output, output != Self.stream { try Self.setName(output, of: &request.destination) }
        }
        row(
            &ifExists, "if-exists", usual: "fail", .word("what"),
            "If the file already exists: fail with status 3, overwrite it when the new file is complete, rename the "
                + "new file, skip the download, or overwrite it only if the server has a newer file. Default: fail.",
            .field(\.destination.ifExists, unless: .fail, shows: \.rawValue))
        row(
            &continues, "continue", letter: "c", .flag,
            "Continue a file that another tool left unfinished under the final name. Its last 64 KiB, or the "
                + "checksum if one is given, must match the server's file.", .sets { $0.destination.continues = $1 })
        row.pair(
            &contentDisposition, "content-disposition", usual: "true",
            .sets { $0.destination.takesServerName = $1.isOn })
        row.show("no-content-disposition") { GivenOptions.flag(!$0.destination.takesServerName) }
        row.pair(
            &remoteTime, "remote-time",
            .sets(
                { $0.destination.keepsRemoteTime = $1.isOn },
                shows: { GivenOptions.flag($0.destination.keepsRemoteTime) }))
        row.show("continue") { GivenOptions.flag($0.destination.continues) }
    }

    private static func setName(_ output: String, of destination: inout Destination) throws {
        let parts = output.split(separator: "/", omittingEmptySubsequences: false)
        destination.fileName = parts.last.map(String.init)
        if parts.count > 1 {
            let folder = parts.dropLast().joined(separator: "/") + "/"
            guard folder.hasPrefix("/") || !destination.folder.isEmpty else { throw noWorkingFolder }
            destination.folder = FolderPath.canonical(FolderPath.joined(destination.folder, folder))
        }
    }

    static let stream = "-"

    static let noWorkingFolder = ValidationError(
        "the working folder is gone, or its name is not UTF-8; give a folder with -d")
}

enum ContentDispositionFlag: FlagPair {
    case contentDisposition, noContentDisposition

    static let texts = (
        on: "Use the file name that the server sends (Content-Disposition). Default: on.",
        off: "Use the file name in the URL, even if the server sends another name."
    )
}

enum RemoteTimeFlag: FlagPair {
    case remoteTime, noRemoteTime

    static let texts = (
        on: "Set the file's modification time to the time in Last-Modified. Default: off.",
        off: "Set the modification time to the time of the download."
    )
}
