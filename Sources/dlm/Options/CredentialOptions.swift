import ArgumentParser
import DownloadKit
import Foundation

/// Who asks. Passwords are never stored; files are read when they are needed, at each attempt.
struct CredentialOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "For a server that asks for them (Basic), unless the URL has its own; the password is asked for on the "
                + "terminal when it is missing.", valueName: "name[:password]"))
    var user: String?

    @Flag(help: "Look up names and passwords by host in ~/.netrc.")
    var netrc = false

    @Option(
        help: ArgumentHelp("Look them up in this file.", valueName: "file"), completion: .file())
    var netrcFile: String?

    @Option(
        help: ArgumentHelp(
            "Send the token in this file (Authorization: Bearer); read at each attempt, so it may be renewed.",
            valueName: "file"),
        completion: .file())
    var bearerFile: String?

    func validate() throws {
        if let user, user.isEmpty || user.hasPrefix(":") {
            throw ValidationError("-u: no name given; give NAME:PASSWORD")
        }
        if user != nil, bearerFile != nil {
            throw ValidationError("-u and --bearer-file both say who asks; give one")
        }
        for (name, path) in [("--netrc-file", netrcFile), ("--bearer-file", bearerFile)] where path == "" {
            throw ValidationError("\(name): no file given")
        }
    }

    func apply(to request: inout DownloadRequest) throws {
        if let netrcFile {
            request.secretFiles.netrc = FolderPath.file(netrcFile)
        } else if netrc {
            guard let home = ProcessInfo.processInfo.environment["HOME"], home.hasPrefix("/") else {
                throw ValidationError("--netrc: no home folder: set HOME, or give --netrc-file")
            }
            request.secretFiles.netrc = home + "/.netrc"
        }
        if let bearerFile { request.secretFiles.bearer = FolderPath.file(bearerFile) }
        guard let user else { return }
        guard let colon = user.firstIndex(of: ":") else {
            throw ValidationError("-u: no password; give NAME:PASSWORD here")
        }
        request.credential = Credential(
            user: String(user[..<colon]), password: String(user[user.index(after: colon)...]))
    }

    /// Completes the name where it lacks the password.
    mutating func askForPassword(in context: Context) throws {
        guard let user, !user.contains(":") else { return }
        self.user = "\(user):\(try context.askPassword(user, context.signals))"
    }
}
