import DownloadTestSupport
import Foundation
import Synchronization

/// A server that answers every request with the given bytes. Then it closes the connection, or waits for the next
/// request.
final class RawServer: Sendable {
    struct Script: Sendable {
        var reply: [UInt8]
        /// Whether the reply is sent again and again until the client disconnects.
        var isEndless = false
        /// If set, the bytes from this offset on are sent in one write, after the peer's kernel has taken all earlier
        /// bytes.
        var lastWrite: Int?
        /// Whether the connection stays open after the reply, for the next request.
        var staysOpen = false

        init(_ reply: String) { self.reply = Array(reply.utf8) }
        init(_ reply: [UInt8]) { self.reply = reply }
    }

    /// The TCP port, 0 on a Unix socket.
    let port: Int
    /// The head and body of each request, as they arrived.
    let requests = Observed<[String]>([])
    private let open = Mutex<Set<Int32>?>([])
    private let threads = DispatchGroup()

    convenience init(_ script: Script) throws {
        let (descriptor, port) = try LoopbackSocket.listen(backlog: 64)
        self.init(script, listener: descriptor, port: port)
    }

    convenience init(_ script: Script, unixSocket path: String) throws {
        self.init(script, listener: try LoopbackSocket.listen(unixSocket: path, backlog: 64), port: 0)
    }

    private init(_ script: Script, listener: Int32, port: Int) {
        self.port = port
        open.withLock { _ = $0?.insert(listener) }
        threads.enter()
        Thread.detachNewThread { [self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0 { break }
                guard open.withLock({ $0?.insert(descriptor) != nil }) else {
                    close(descriptor)
                    break
                }
                threads.enter()
                Thread.detachNewThread { [self] in
                    while serve(descriptor, script), script.staysOpen {}
                    open.withLock {
                        $0?.remove(descriptor)
                        close(descriptor)
                    }
                    threads.leave()
                }
            }
            close(listener)
            threads.leave()
        }
    }

    var url: String { "http://127.0.0.1:\(port)/file" }

    func stop() {
        open.withLock { open in
            for descriptor in open ?? [] { shutdown(descriptor, Int32(SHUT_RDWR)) }
            open = nil
        }
        threads.wait()
    }

    /// Reads one request and sends its reply. Returns false if the client has disconnected.
    private func serve(_ descriptor: Int32, _ script: Script) -> Bool {
        guard let request = Self.readRequest(descriptor) else { return false }
        requests.update { $0.append(request) }
        repeat {
            let last = script.lastWrite ?? script.reply.count
            guard Self.send(script.reply[..<last], to: descriptor) else { return false }
            if script.lastWrite != nil { LoopbackSocket.waitUntilTaken(descriptor) }
            guard Self.send(script.reply[last...], to: descriptor) else { return false }
        } while script.isEndless
        return true
    }

    private static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func readRequest(_ descriptor: Int32) -> String? {
        var seen = ""
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = seen.range(of: "\r\n\r\n") {
                let length = seen.firstMatch(of: /(?i)content-length: *([0-9]+)/).flatMap { Int($0.1) } ?? 0
                if seen[end.upperBound...].utf8.count >= length { return seen }
            }
            let count = recv(descriptor, &piece, piece.count, 0)
            if count <= 0 { return nil }
            seen += String(decoding: piece[..<count], as: UTF8.self)
        }
    }
}
