import Foundation

/// A real web server on the loopback interface that requires a name and password by Digest (RFC 7616), and serves a
/// folder of its own. End it with ``stop()``.
package final class Lighttpd: Sendable {
    package static let program = "/usr/sbin/lighttpd"
    package static let canRun = FileManager.default.isExecutableFile(atPath: program)

    private let folder: TemporaryFolder
    private let process: ChildProcess
    private let port: Int

    package init() async throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("files")
        port = try LoopbackSocket.unusedPort()
        let hash = Content("\(PrivateServer.user):dlm:\(PrivateServer.password)").digest("md5")
        try folder.write("\(PrivateServer.user):dlm:\(hash)\n", to: "users")
        try folder.write(
            """
            server.modules = ("mod_auth", "mod_authn_file", "mod_accesslog")
            server.port = \(port)
            server.bind = "127.0.0.1"
            server.document-root = "\(folder("files"))"
            server.kbytes-per-second = 0
            connection.kbytes-per-second = 0
            accesslog.filename = "\(folder("log"))"
            accesslog.format = "%s %b %{Range}i %{Authorization}i"
            auth.backend = "htdigest"
            auth.backend.htdigest.userfile = "\(folder("users"))"
            auth.require = ("/" => ("method" => "digest", "realm" => "dlm", "require" => "valid-user"))
            mimetype.assign = ("" => "application/octet-stream")

            """, to: "lighttpd.conf")
        var launch = ProcessLaunch(Self.program, ["-D", "-f", folder("lighttpd.conf")])
        launch.timeLimit = .seconds(600)
        process = try ChildProcess(launch)
        try await process.waitToListen(at: port, "lighttpd")
    }

    package func add(_ content: Content, as name: String) throws { try content.write(to: folder("files/\(name)")) }

    package func url(_ name: String) -> String { "http://127.0.0.1:\(port)/\(name)" }

    /// A request as recorded in the access log. The log is written when the server ends, or when its buffer is full.
    package struct LogLine: Sendable {
        package let status: Int
        package let bytes: Int64
        package let range: String
        package let authorization: String
    }

    /// Ends the server and returns its log.
    package func stop() async -> [LogLine] {
        await process.stop()
        return ((try? folder.read("log")) ?? "").split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count == 4, let status = Int(words[0]) else { return nil }
            return LogLine(
                status: status, bytes: Int64(words[1]) ?? 0, range: String(words[2]), authorization: String(words[3]))
        }
    }
}
