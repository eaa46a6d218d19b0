import ArgumentParser
import DownloadKit
import Foundation

/// The options for the user's identity. Passwords are never stored. Files are read at each attempt.
struct CredentialOptions: OptionTable {
    var user: String?
    var basic = false
    var digest = false
    var ntlm = false
    var negotiate = false
    var anyAuth = false
    var awsSigv4: String?
    var netrc = false
    var netrcFile: String?
    var bearerFile: String?
    var bearerCommand: String?

    func validate() throws {
        if let user, user.isEmpty || user.hasPrefix(":") {
            throw ValidationError("-u: no name given; give NAME:PASSWORD")
        }
        if user != nil, bearerFile != nil {
            throw ValidationError("-u and --bearer-file exclude each other; give one")
        }
        if bearerCommand != nil, user != nil || bearerFile != nil {
            throw ValidationError("-u, --bearer-file and --bearer-command exclude each other; give one")
        }
        let ways = [basic, digest, ntlm, negotiate, anyAuth, awsSigv4 != nil].count { $0 }
        if ways > 1 {
            throw ValidationError(
                "--basic, --digest, --ntlm, --negotiate, --anyauth and --aws-sigv4 exclude each other; give one")
        }
        if let awsSigv4 {
            let parts = awsSigv4.split(separator: ":", omittingEmptySubsequences: false)
            guard (1...4).contains(parts.count),
                parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) } })
            else {
                throw ValidationError("--aws-sigv4: not of the form PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]")
            }
        }
        for (name, path) in [("--netrc-file", netrcFile), ("--bearer-file", bearerFile)] where path == "" {
            throw ValidationError("\(name): no file given")
        }
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &user, "user", letter: "u", secret: .user, .word("name[:password]"),
            "Log in with this name and password, unless the URL has its own. If the password is missing, dlm asks "
                + "for it on the terminal.",
            .sets({ $0.credential = try Self.credential($1) }, shows: { $0.credential.map(\.user) }))
        row(
            &basic, "basic", .flag,
            "Send name and password with the first request (Basic), and use no other method. Default: Basic, and "
                + "then Digest if the server asks for it.", Self.way(.basic))
        row(
            &digest, "digest", .flag, "Log in with Digest authentication, which never sends the password itself.",
            Self.way(.digest))
        row(&ntlm, "ntlm", .flag, "Log in with NTLM authentication.", Self.way(.ntlm))
        row(
            &negotiate, "negotiate", .flag,
            "Log in with Negotiate (Kerberos), with the current ticket if -u is not given.", Self.way(.negotiate))
        row(&anyAuth, "anyauth", .flag, "Log in with the strongest method that the server offers.", Self.way(.any))
        row(
            &awsSigv4, "aws-sigv4", .word("provider1:provider2:region:service"),
            "Sign each request with AWS Signature Version 4. Example of a value: aws:amz:eu-central-1:s3. Parts at "
                + "the end of the value may be omitted. Give the key and the secret as -u KEY:SECRET.",
            .sets { $0.http.signature = $1 })
        row(&netrc, "netrc", .flag, "Look up names and passwords by host in ~/.netrc.")
        row(
            &netrcFile, "netrc-file", .path("file"), "Look up names and passwords by host in this file.",
            .file(\.secretFiles.netrc))
        row.change { request in
            if netrc, netrcFile == nil, let file = try Self.homeNetrc() { request.secretFiles.netrc = file }
        }
        row(
            &bearerFile, "bearer-file", in: .trusted, .path("file"),
            "Send the token from this file (Authorization: Bearer). The file is read at each attempt, so the token "
                + "may change.",
            .sets(
                { ($0.secretFiles.bearer, $0.secretFiles.bearerCommand) = (FolderPath.file($1), nil) },
                shows: \.secretFiles.bearer))
        row(
            &bearerCommand, "bearer-command", in: .trusted, .path("program"),
            "Run this program without arguments at each attempt, and send the token that it prints.",
            .sets(
                { request, command in
                    let folder = FileManager.default.currentDirectoryPath
                    let path = try HookProgram.path(
                        of: command, option: "--bearer-command", in: folder.isEmpty ? nil : folder)
                    (request.secretFiles.bearer, request.secretFiles.bearerCommand) = (nil, path)
                }, shows: \.secretFiles.bearerCommand))
        row.show("aws-sigv4", \.http.signature)
        for way in HTTPAuthentication.allCases {
            row.show(way == .any ? "anyauth" : way.rawValue) { GivenOptions.flag($0.http.authentication == way) }
        }
    }

    private static func way(_ way: HTTPAuthentication) -> OptionEffect<Bool> {
        .sets { request, _ in request.http.authentication = way }
    }

    /// Returns the path of `~/.netrc`, or nil if there is no such file. As in curl and wget, this is not an error: the
    /// download begins without a password. A file that cannot be read is an error when the attempt begins.
    private static func homeNetrc() throws -> String? {
        guard let home = ProcessInfo.processInfo.environment["HOME"], home.hasPrefix("/") else {
            throw ValidationError("--netrc: no home folder: set HOME, or give --netrc-file")
        }
        let file = home + "/.netrc"
        return access(file, F_OK) == 0 || errno != ENOENT ? file : nil
    }

    private static func credential(_ user: String) throws -> Credential {
        guard let colon = user.firstIndex(of: ":") else {
            throw ValidationError(
                "-u: no password, and dlm does not ask for one in a list or in settings; give NAME:PASSWORD")
        }
        return Credential(user: String(user[..<colon]), password: String(user[user.index(after: colon)...]))
    }

    mutating func askForPassword(in context: Context) throws {
        guard let user, !user.contains(":") else { return }
        self.user = "\(user):\(try context.askPassword(user, context.signals))"
    }
}

/// The options for cookies. A cookie is sent only to URLs that match its domain, path and scheme, also after
/// redirects. Without these options, the cookies that servers set are kept in memory until the command ends.
struct CookieOptions: OptionTable {
    var cookieFile: String?
    var cookieJar: String?

    func validate() throws {
        if cookieFile == "" { throw ValidationError("--cookie-file: no file given") }
        if let cookieJar, cookieJar.isEmpty || cookieJar.hasSuffix("/") {
            throw ValidationError("--cookie-jar: no file given")
        }
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &cookieFile, "cookie-file", .path("file"),
            "Send the cookies from this file (Netscape format), which is read at each attempt.",
            .file(\.secretFiles.cookies))
        row(
            &cookieJar, "cookie-jar", .path("file"),
            "Save all cookies to this file when a download ends. It may be the file of --cookie-file.",
            .file(\.secretFiles.cookieJar))
    }
}
