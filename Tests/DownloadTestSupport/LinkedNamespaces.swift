import DownloadCore
import DownloadSystem
import Foundation

/// Two network namespaces with a link between them: a server in one, dlm in the other. They need root and iproute2.
package final class LinkedNamespaces: Sendable {
    private let server: String
    private let client: String
    package static let serverAddress = "10.99.7.1"
    package static let clientAddress = "10.99.7.2"
    package static let otherClientAddress = "10.99.7.3"
    /// The client's end of the link.
    package static let interface = "toserver"

    /// Whether namespaces can be made here.
    package static let arePossible: Bool = {
        guard geteuid() == 0, let link = try? LinkedNamespaces() else { return false }
        link.remove()
        return true
    }()
    /// The reason for skipping a test.
    package static let lack = "network namespaces need root and iproute2"

    package init() throws {
        let mark = "dlm\(getpid())-\(UInt32.random(in: 0...0xFFFF))"
        (server, client) = ("\(mark)-s", "\(mark)-c")
        do {
            for name in [server, client] {
                try Self.ip(["netns", "add", name])
                try Self.ip(["-n", name, "link", "set", "lo", "up"])
            }
            try Self.ip([
                "-n", client, "link", "add", Self.interface, "type", "veth", "peer", "name", "toclient", "netns",
                server,
            ])
            try Self.ip(["-n", server, "addr", "add", "\(Self.serverAddress)/24", "dev", "toclient"])
            try Self.ip(["-n", server, "link", "set", "toclient", "up"])
            try addClientAddress(Self.clientAddress)
            try setClient(up: true)
        } catch {
            remove()
            throw error
        }
    }

    package func remove() {
        for name in [server, client] { _ = try? Self.ip(["netns", "del", name]) }
    }

    /// Sets the server's end of the link up or down. If down, the client's end loses its carrier, as when a cable is
    /// pulled.
    package func setLink(up: Bool) throws {
        try Self.ip(["-n", server, "link", "set", "toclient", up ? "up" : "down"])
    }

    /// Sets the client's end of the link up or down. If down, its routes are deleted.
    package func setClient(up: Bool) throws {
        try Self.ip(["-n", client, "link", "set", Self.interface, up ? "up" : "down"])
    }

    package func addClientAddress(_ address: String) throws {
        try Self.ip(["-n", client, "addr", "add", "\(address)/24", "dev", Self.interface])
    }

    package func removeClientAddress(_ address: String) throws {
        try Self.ip(["-n", client, "addr", "del", "\(address)/24", "dev", Self.interface])
    }

    /// Returns the number of bytes that the client has received over the link, headers included.
    package func receivedBytes() throws -> Int64 {
        let text = try Self.ip(["-n", client, "-s", "-j", "link", "show", "dev", Self.interface])
        let all = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
        let stats = all?.first?["stats64"] as? [String: Any]
        guard let bytes = (stats?["rx"] as? [String: Any])?["bytes"] as? Int64 else {
            throw ChildProcess.Failure(description: "no statistics in \(text)")
        }
        return bytes
    }

    package func inServer(_ launch: ProcessLaunch) -> ProcessLaunch { launch.inside(server) }
    package func inClient(_ launch: ProcessLaunch) -> ProcessLaunch { launch.inside(client) }

    /// Returns a launch that runs in the client's namespace.
    /// - Parameter resolver: the file that the program sees as /etc/resolv.conf.
    package func inClient(_ launch: ProcessLaunch, resolver: String) -> ProcessLaunch {
        var launch = launch
        let script = "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\""
        launch.arguments = ["-m", "/bin/sh", "-c", script, resolver, launch.executable] + launch.arguments
        launch.executable = "/usr/bin/unshare"
        return inClient(launch)
    }

    @discardableResult
    private static func ip(_ words: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "ip"] + words
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try WriterWatch.shared.withoutClosing { Result { try process.run() } }.get()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ChildProcess.Failure(description: "ip \(words.joined(separator: " ")): \(text)")
        }
        return text
    }
}

extension ProcessLaunch {
    /// Returns the same command in a network namespace. The process keeps its number.
    fileprivate func inside(_ namespace: String) -> ProcessLaunch {
        var launch = self
        launch.arguments = ["--net=/run/netns/\(namespace)", executable] + arguments
        launch.executable = "/usr/bin/nsenter"
        return launch
    }
}
