import ArgumentParser
import DownloadKit
import Foundation

/// Where the files of `get` go.
struct DestinationOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write; folders in it are created.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The folder for the files; created if missing.", valueName: "dir"),
        completion: .directory)
    var directory: String?

    @Option(
        help: ArgumentHelp(
            "When the final name is taken: fail with status 3, overwrite it once the new file is complete, rename the "
                + "new one, skip the download, or overwrite only if the server's is newer.", valueName: "what"))
    var ifExists = Destination.IfExists.fail

    func validate() throws {
        if let directory, directory.isEmpty { throw ValidationError("-d: no folder given") }
        guard let output else { return }
        if output == "-" {
            throw ValidationError("-o -: writing to standard output is not built yet; give a file name")
        }
        if output.hasSuffix("/") { throw ValidationError("-o \(output): names a folder; give folders with -d") }
        let name = String(output.split(separator: "/").last ?? "")
        if ["", ".", ".."].contains(name) { throw ValidationError("-o: no file name given") }
        if !FileNaming.isUsable(name) {
            throw ValidationError("-o: the name is too long; give at most \(FileNaming.longest) bytes")
        }
        if output.hasPrefix("/"), directory != nil { throw ValidationError("-d and -o both name a folder; give one") }
    }

    /// True where the working folder does not matter.
    var isAbsolute: Bool { (directory ?? output)?.utf8.first == UInt8(ascii: "/") }

    /// - Parameter workingFolder: absolute; relative folders start there.
    func destination(in workingFolder: String) -> Destination {
        var folder = directory.map { FolderPath.joined(workingFolder, $0) } ?? workingFolder
        var name: String?
        if let output {
            let parts = output.split(separator: "/", omittingEmptySubsequences: false)
            name = parts.last.map(String.init)
            if parts.count > 1 {
                folder = FolderPath.joined(folder, parts.dropLast().joined(separator: "/") + "/")
            }
        }
        return Destination(folder: FolderPath.canonical(folder), fileName: name, ifExists: ifExists)
    }
}
