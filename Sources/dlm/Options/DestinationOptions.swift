import ArgumentParser
import DownloadKit
import Foundation

/// The options for the folders and names of the files of `get`.
struct DestinationOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write to this file; missing folders are created. With - the file goes to standard output: it is verified "
                + "only at the end (status 9), and the download is not recorded.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Put the files into this folder, which is created if missing. Default: the current folder.",
            valueName: "dir"),
        completion: .directory)
    var directory: String?

    @Option(
        help: ArgumentHelp(
            "If the file already exists: fail with status 3, overwrite it when the new file is complete, rename the "
                + "new file, skip the download, or overwrite it only if the server has a newer file. Default: fail.",
            valueName: "what"))
    var ifExists: Destination.IfExists?

    @Flag(
        name: [.customShort("c"), .customLong("continue")],
        help: """
            Continue a file that another tool left unfinished under the final name. Its last 64 KiB, or the checksum \
            if one is given, must match the server's file.
            """)
    var continues = false

    @Flag(exclusivity: .chooseLast) var contentDisposition: ContentDispositionFlag?

    @Flag(exclusivity: .chooseLast) var remoteTime: RemoteTimeFlag?

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

    /// Applies the options that were given, and changes nothing else. A relative folder in the value of `--output` is
    /// relative to the folder that was given before, if any.
    /// - Parameter workingFolder: the absolute path from which relative folders start; nil if there is no usable one.
    func apply(to destination: inout Destination, in workingFolder: String?) throws {
        if let ifExists { destination.ifExists = ifExists }
        if continues { destination.continues = true }
        if let contentDisposition { destination.takesServerName = contentDisposition == .contentDisposition }
        if let remoteTime { destination.keepsRemoteTime = remoteTime == .remoteTime }
        if let directory {
            guard let start = directory.hasPrefix("/") ? "" : workingFolder else { throw Self.noWorkingFolder }
            destination.folder = FolderPath.canonical(FolderPath.joined(start, directory))
        }
        guard let output, output != Self.stream else { return }
        let parts = output.split(separator: "/", omittingEmptySubsequences: false)
        destination.fileName = parts.last.map(String.init)
        if parts.count > 1 {
            let folder = parts.dropLast().joined(separator: "/") + "/"
            guard folder.hasPrefix("/") || !destination.folder.isEmpty else { throw Self.noWorkingFolder }
            destination.folder = FolderPath.canonical(FolderPath.joined(destination.folder, folder))
        }
    }

    /// The value of `--output` that means standard output.
    static let stream = "-"

    static let noWorkingFolder = ValidationError(
        "the working folder is gone, or its name is not UTF-8; give a folder with -d")
}

extension DestinationOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        output = words.path("output", "o")
        directory = words.path("directory", "d")
        ifExists = words.value("if-exists")
        continues = words.flag("continue", "c")
        contentDisposition = words.pair("content-disposition")
        remoteTime = words.pair("remote-time")
    }
}

extension DestinationOptions: TellingOptions {
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        let place = request.destination
        return [
            ("if-exists", GivenOptions.text(place.ifExists, unless: .fail, \.rawValue)),
            ("no-content-disposition", GivenOptions.flag(!place.takesServerName)),
            ("remote-time", GivenOptions.flag(place.keepsRemoteTime)),
            ("continue", GivenOptions.flag(place.continues)),
        ]
    }
}
