import DownloadKit
import Glibc

/// A program that dlm can replace. If dlm is called by the name of such a program, it accepts the program's options for
/// downloads.
enum DropInProgram: String, CaseIterable, Sendable {
    case aria2c, wget, curl

    /// Returns nil if the word is not the name of one of these programs.
    /// - Parameter word: The first word of a command line, with or without folders.
    init?(calledAs word: String) {
        guard let name = word.split(separator: "/").last else { return nil }
        self.init(rawValue: String(name))
    }

    var options: [DropInOption] {
        switch self {
        case .aria2c: DropInOption.aria2c
        case .wget: DropInOption.wget
        case .curl: DropInOption.curl
        }
    }

    var usageStatus: Int32 {
        switch self {
        case .aria2c: 28
        case .wget, .curl: 2
        }
    }

    /// Returns the path of the real program, if PATH has one.
    /// - Parameter path: The value of PATH.
    func original(in path: String?) -> String? {
        for folder in (path ?? "/usr/bin:/bin").split(separator: ":") where folder.hasPrefix("/") {
            let file = "\(folder)/\(rawValue)"
            if access(file, X_OK) == 0, !FileStatus.areSame(file, "/proc/self/exe") { return file }
        }
        return nil
    }
}

/// A command line of another program that dlm cannot follow.
struct DropInFailure: Error, Equatable {
    let program: DropInProgram
    private let text: String
    /// Whether the real program may accept the command line, so that the message names this program.
    private let needsOriginal: Bool

    /// - Parameters:
    ///   - option: The option as the user wrote it.
    ///   - why: The feature that dlm lacks, or the reason why the value is wrong.
    init(_ program: DropInProgram, _ option: String, _ why: String) {
        (self.program, text, needsOriginal) = (program, "\(option): \(why)", true)
    }

    init(_ program: DropInProgram, _ message: String) {
        (self.program, text, needsOriginal) = (program, message, false)
    }

    /// - Parameter path: The value of PATH.
    func message(path: String?) -> String {
        let message = "\(program.rawValue): \(text)"
        if !needsOriginal { return message }
        return message + "; "
            + (program.original(in: path).map { "run \($0) instead" } ?? "use the real \(program.rawValue) instead")
    }
}

enum DropInText {
    /// Returns the answer to `--version`. yt-dlp and apt-fast look for a version in this text. The text also says that
    /// the program is dlm.
    static func version(_ program: DropInProgram) -> String {
        let own = "dlm \(DownloadSession.version) in the place of \(program.rawValue)"
        switch program {
        case .aria2c:
            return """
                aria2 version 1.37.0
                \(own)

                ** Configuration **
                Enabled Features: HTTPS, Message Digest, Metalink, SFTP
                Hash Algorithms: sha-1, sha-224, sha-256, sha-384, sha-512, md5
                """
        case .wget: return "GNU Wget 1.21.3 built on linux-gnu.\n\(own)"
        case .curl:
            return """
                curl 8.5.0 (\(own)) libcurl/8.5.0
                Protocols: file ftp ftps http https scp sftp
                Features: AsynchDNS HSTS HTTP2 IPv6 Largefile SSL UnixSockets
                """
        }
    }

    static func help(_ program: DropInProgram) -> String {
        let count = program.options.count
        return """
            dlm \(DownloadSession.version) in the place of \(program.rawValue): it understands \(count) options of \
            \(program.rawValue) for downloads. They are listed in docs/drop-in.md; dlm's own options: dlm get --help
            """
    }
}
