import DownloadTestSupport
import Foundation
import Synchronization

/// Answers every connection, once it has a request, with the bytes it was given, then closes it, or stays silent.
final class RawServer: Sendable {
    struct Script: Sendable {
        var reply: [UInt8]
        /// Sends the reply again and again until the client goes.
        var isEndless = false
        /// Neither closes nor says more.
        var staysOpen = false

        init(_ reply: String) { self.reply = Array(reply.utf8) }
        init(_ reply: [UInt8]) { self.reply = reply }
    }

    let port: Int
    private let open = Mutex<Set<Int32>?>([])
    private let threads = DispatchGroup()

    init(_ script: Script) throws {
        let listener = try LoopbackSocket.listen(backlog: 64)
        port = listener.port
        open.withLock { _ = $0?.insert(listener.descriptor) }
        threads.enter()
        Thread.detachNewThread { [self] in
            while true {
                let descriptor = accept(listener.descriptor, nil, nil)
                if descriptor < 0 { break }
                guard open.withLock({ $0?.insert(descriptor) != nil }) else {
                    close(descriptor)
                    break
                }
                threads.enter()
                Thread.detachNewThread { [self] in
                    Self.serve(descriptor, script)
                    open.withLock {
                        $0?.remove(descriptor)
                        close(descriptor)
                    }
                    threads.leave()
                }
            }
            close(listener.descriptor)
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

    private static func serve(_ descriptor: Int32, _ script: Script) {
        var seen: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while seen.suffix(4) != Array("\r\n\r\n".utf8) {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count <= 0 { return }
            seen += piece[..<count]
        }
        repeat {
            var rest = script.reply[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if count <= 0 { return }
                rest = rest.dropFirst(count)
            }
        } while script.isEndless
        if script.staysOpen { _ = recv(descriptor, &piece, 1, 0) }
    }
}
