import ArgumentParser
import DownloadKit
import Foundation

/// The options for the user's identity. Passwords are never stored. Files are read at each attempt.
struct CredentialOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Log in with this name and password, unless the URL has its own; a missing password is asked for on the "
                + "terminal.", valueName: "name[:password]"))
    var user: String?

    @Flag(
        help: """
            Send name and password with the first request (Basic), and answer no other challenge. Default: the same, \
            but a server that then asks for Digest gets a digest of them.
            """)
    var basic = false

    @Flag(help: "Answer the server's challenge with a digest of name and password, and never send them.")
    var digest = false

    @Flag(help: "Answer with NTLM.")
    var ntlm = false

    @Flag(help: "Answer with Negotiate (Kerberos), by the ticket there is unless -u is given.")
    var negotiate = false

    @Flag(name: .customLong("anyauth"), help: "Answer with the best that the server has.")
    var anyAuth = false

    @Option(
        name: .customLong("aws-sigv4"),
        help: ArgumentHelp(
            "Sign each request (AWS Signature Version 4) with -u KEY:SECRET, as in aws:amz:eu-central-1:s3.",
            valueName: "provider:region:service"))
    var awsSigv4: String?

    @Flag(help: "Look up names and passwords by host in ~/.netrc.")
    var netrc = false

    @Option(
        help: ArgumentHelp("Look up names and passwords by host in this file.", valueName: "file"), completion: .file())
    var netrcFile: String?

    @Option(
        help: ArgumentHelp(
            "Send the token in this file (Authorization: Bearer); read at each attempt, so it may be renewed.",
            valueName: "file"),
        completion: .file())
    var bearerFile: String?

    @Option(
        help: ArgumentHelp(
            "Send the token that this program prints; it is run at each attempt, without arguments.",
            valueName: "program"),
        completion: .file())
    var bearerCommand: String?

    func validate() throws {
        if let user, user.isEmpty || user.hasPrefix(":") {
            throw ValidationError("-u: no name given; give NAME:PASSWORD")
        }
        if user != nil, bearerFile != nil {
            throw ValidationError("-u and --bearer-file both say who asks; give one")
        }
        if bearerCommand != nil, user != nil || bearerFile != nil {
            throw ValidationError("--bearer-command says who asks, as do -u and --bearer-file; give one")
        }
        let ways = [basic, digest, ntlm, negotiate, anyAuth, awsSigv4 != nil].count { $0 }
        if ways > 1 {
            throw ValidationError(
                "--basic, --digest, --ntlm, --negotiate, --anyauth and --aws-sigv4 exclude each other; give one")
        }
        if let awsSigv4 {
            let parts = awsSigv4.split(separator: ":", omittingEmptySubsequences: false)
            guard (1...4).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isWord) })
            else {
                throw ValidationError("--aws-sigv4: not of the form PROVIDER1:PROVIDER2:REGION:SERVICE")
            }
        }
        for (name, path) in [("--netrc-file", netrcFile), ("--bearer-file", bearerFile)] where path == "" {
            throw ValidationError("\(name): no file given")
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private var authentication: HTTPAuthentication? {
        if digest { return .digest }
        if ntlm { return .ntlm }
        if negotiate { return .negotiate }
        if anyAuth { return .any }
        return basic ? .basic : nil
    }

    func apply(to request: inout DownloadRequest) throws {
        request.http.authentication = authentication ?? request.http.authentication
        request.http.signature = awsSigv4 ?? request.http.signature
        if let netrcFile {
            request.secretFiles.netrc = FolderPath.file(netrcFile)
        } else if netrc {
            guard let home = ProcessInfo.processInfo.environment["HOME"], home.hasPrefix("/") else {
                throw ValidationError("--netrc: no home folder: set HOME, or give --netrc-file")
            }
            // As with curl and wget, a missing file is not an error: it only has no passwords. A file that cannot be
            // read is an error when the attempt begins.
            let file = home + "/.netrc"
            if access(file, F_OK) == 0 || errno != ENOENT { request.secretFiles.netrc = file }
        }
        if let bearerFile {
            (request.secretFiles.bearer, request.secretFiles.bearerCommand) = (FolderPath.file(bearerFile), nil)
        }
        if let bearerCommand {
            let folder = FileManager.default.currentDirectoryPath
            let path = try HookProgram.path(
                of: bearerCommand, option: "--bearer-command", in: folder.isEmpty ? nil : folder)
            (request.secretFiles.bearer, request.secretFiles.bearerCommand) = (nil, path)
        }
        guard let user else { return }
        guard let colon = user.firstIndex(of: ":") else {
            throw ValidationError("-u: no password; give NAME:PASSWORD here")
        }
        request.credential = Credential(
            user: String(user[..<colon]), password: String(user[user.index(after: colon)...]))
    }

    /// Asks for the password if `--user` gives only a name.
    mutating func askForPassword(in context: Context) throws {
        guard let user, !user.contains(":") else { return }
        self.user = "\(user):\(try context.askPassword(user, context.signals))"
    }
}

extension CredentialOptions: ScannedGroup {
    mutating func read(_ words: inout ScannedWords) {
        user = words.text("user", "u")
        basic = words.flag("basic")
        digest = words.flag("digest")
        ntlm = words.flag("ntlm")
        negotiate = words.flag("negotiate")
        anyAuth = words.flag("anyauth")
        awsSigv4 = words.text("aws-sigv4")
        netrc = words.flag("netrc")
        netrcFile = words.path("netrc-file")
        bearerFile = words.path("bearer-file")
        bearerCommand = words.path("bearer-command")
    }
}

extension CredentialOptions: TellingOptions {
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        let files = request.secretFiles
        return [
            ("user", request.credential.map(\.user)), ("netrc-file", files.netrc), ("bearer-file", files.bearer),
            ("bearer-command", files.bearerCommand), ("aws-sigv4", request.http.signature),
        ]
            + HTTPAuthentication.allCases.map {
                ($0 == .any ? "anyauth" : $0.rawValue, GivenOptions.flag(request.http.authentication == $0))
            }
    }
}
