import DownloadKit

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
