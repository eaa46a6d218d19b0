import Foundation
import Synchronization

/// An HTTP proxy that supports only CONNECT (RFC 9110, section 9.3.6). It connects every tunnel to one port of this
/// machine, whatever the requested host is. So commands that name example.org run as they are written. End it with
/// ``stop()``.
package final class TunnelProxy: Sendable {
    private let listener: Int32
    private let target: Int
    private let port: Int
    /// The descriptors of the tunnels. Nil once the proxy is stopped.
    private let open = Mutex<Set<Int32>?>([])
    private let threads = DispatchGroup()

    package init(to target: Int) throws {
        (listener, port) = try LoopbackSocket.listen(backlog: 64)
        self.target = target
        threads.enter()
        Thread.detachNewThread {
            self.accept()
            self.threads.leave()
        }
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    package func stop() {
        open.withLock { open in
            for descriptor in open ?? [] { shutdown(descriptor, Int32(SHUT_RDWR)) }
            open = nil
        }
        shutdown(listener, Int32(SHUT_RDWR))
        threads.wait()
    }

    private func accept() {
        defer { close(listener) }
        while true {
            let client = Glibc.accept(listener, nil, nil)
            if client < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard client >= 0 else { return }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            guard register(client) else {
                close(client)
                return
            }
            threads.enter()
            Thread.detachNewThread {
                self.serve(client)
                self.threads.leave()
            }
        }
    }

    private func register(_ descriptor: Int32) -> Bool {
        open.withLock { $0?.insert(descriptor) } != nil
    }

    private func end(_ descriptor: Int32) {
        open.withLock { _ = $0?.remove(descriptor) }
        close(descriptor)
    }

    private func serve(_ client: Int32) {
        defer { end(client) }
        let wire = Wire(client)
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard wire.receive(into: &head) else { return }
        }
        let words = String(decoding: head, as: UTF8.self).prefix { $0 != "\r\n" }.split(separator: " ")
        guard words.count == 3, words[0] == "CONNECT" else {
            _ = wire.send(Array("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n".utf8))
            return
        }
        guard let server = try? LoopbackSocket.connect(port: target) else {
            _ = wire.send(Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8))
            return
        }
        guard register(server) else {
            close(server)
            return
        }
        defer { end(server) }
        if wire.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)) { relay(wire, Wire(server)) }
    }

    /// Forwards bytes until one of the two connections ends.
    private func relay(_ client: Wire, _ server: Wire) {
        var watched = [client, server].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while poll(&watched, 2, -1) > 0 || errno == EINTR {
            for (index, (from, to)) in [(client, server), (server, client)].enumerated()
            where watched[index].revents != 0 {
                var piece: [UInt8] = []
                guard from.receive(into: &piece), to.send(piece) else { return }
            }
        }
    }
}
