import DownloadTestSupport
import Foundation
import Testing

/// A protocol that dlm supports: a row of docs/protocols.md.
enum Spoken: String, CaseIterable, Sendable, CustomStringConvertible {
    case http, https, ftp, ftps, sftp, scp, file
    case encryptedFTP = "ftp --ssl-reqd"

    static let remote = allCases.filter { $0 != .file }

    var description: String { rawValue }
    var fileName: String { rawValue.replacing(" --", with: "-") + ".bin" }
    var isHTTP: Bool { self == .http || self == .https }
    var isFTP: Bool { self == .ftp || self == .ftps || self == .encryptedFTP }
    var isSSH: Bool { self == .sftp || self == .scp }
    /// Whether every test of the protocol uses a name and a password.
    var needsLogin: Bool { isFTP || isSSH }
}

/// A real server for each protocol, all with the same files.
struct RealServers: Sendable {
    static let canRun =
        Vsftpd.canRun && OpenSSHServer.canRun && FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")
    static let wrongLogin = ["-u", "\(PrivateServer.user):wrong"]

    let nginx: Nginx
    let vsftpd: Vsftpd
    let openSSH: OpenSSHServer
    /// The folder of the `file` URLs.
    let folder: TemporaryFolder

    func add(_ content: Content, as name: String) throws {
        try nginx.add(content, as: name)
        try vsftpd.add(content, as: name)
        try openSSH.add(content, as: name)
        try content.write(to: folder(name))
    }

    func url(_ spoken: Spoken, _ name: String) -> String {
        switch spoken {
        case .http: nginx.url("/\(name)")
        case .https: nginx.secureURL("/\(name)")
        case .ftp, .encryptedFTP: vsftpd.url(name)
        case .ftps: vsftpd.secureURL(name)
        case .sftp, .scp: openSSH.url(name, spoken.rawValue, password: nil)
        case .file: "file://\(folder(name))"
        }
    }

    /// Runs a test in a home whose user trusts the servers.
    func withDlm(_ body: (DlmSandbox) async throws -> Void) async throws {
        try await EndToEndTests.withDlm { sandbox in
            try sandbox.root.write(openSSH.knownHost, to: "home/.ssh/known_hosts")
            try await body(sandbox)
        }
    }

    /// Returns the options that a download needs.
    /// - Parameter proxy: the proxy through which the download goes.
    func words(_ spoken: Spoken, in sandbox: DlmSandbox, proxy: RealProxy? = nil) throws -> [String] {
        let files = [nginx.certificates.authority, vsftpd.certificates.authority, proxy?.authority]
        // The servers listen on IPv4 addresses only, whatever the address of localhost is.
        return try sandbox.trust(files) + ["-4"] + (spoken.needsLogin ? PrivateServer.login : [])
            + (spoken == .encryptedFTP ? ["--ssl-reqd"] : [])
    }

    /// Kills a download of each protocol and resumes it. The logs of the servers prove that the recorded part is used.
    func resume(
        _ protocols: [Spoken], _ content: Content, proxy: RealProxy? = nil, options: [String] = []
    ) async throws {
        for spoken in protocols { try add(content, as: spoken.fileName) }
        try await concurrently(protocols, atMost: 4) { spoken in
            try await withDlm { sandbox in
                let name = spoken.fileName
                let words = try self.words(spoken, in: sandbox, proxy: proxy) + options + ["-x", "1"]
                let received = try await sandbox.kill(words + [url(spoken, name)], after: 3 * mebibyte)
                #expect(received < content.size, "\(spoken)")
                let again = ["resume", "1"] + (spoken.needsLogin ? PrivateServer.login : [])
                try await sandbox.expectDownloaded(content, as: name, by: again, what: spoken)
                guard spoken.isHTTP else { return }
                @Sendable func lines(_ log: [Nginx.LogLine], again: Bool) -> [Nginx.LogLine] {
                    log.filter { $0.path == "/\(name)" && ["bytes=0-", "-"].contains($0.range) != again }
                }
                #expect(await nginx.waitUntil { !lines($0, again: true).isEmpty }, "\(spoken)")
                #expect(lines(nginx.log, again: false).count == 1, "\(spoken) \(nginx.log)")
            }
        }
        let offsets = vsftpd.offsets.filter { $0 >= 3 * mebibyte - 65536 }
        #expect(offsets.count >= protocols.count(where: \.isFTP), "\(vsftpd.log)")
        if protocols.contains(.sftp) {
            let read = try #require(openSSH.read.last)
            #expect(read <= content.size - 3 * mebibyte + 65536, "\(openSSH.read)")
        }
    }
}

func withServers(_ body: (RealServers) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try await withNginx { _, nginx in
        try await withVsftpd { _, vsftpd in
            let openSSH = try await OpenSSHServer()
            try await finally({ await openSSH.stop() }) {
                try await body(RealServers(nginx: nginx, vsftpd: vsftpd, openSSH: openSSH, folder: folder))
            }
        }
    }
}
