import Foundation
import Synchronization

/// A proxy on the loopback interface that opens tunnels with CONNECT (RFC 9110, section 9.3.6), SOCKS 4 and SOCKS 5.
/// Every host name stands for this machine. End the proxy with ``stop()``.
package final class AskingProxy: Sendable {
    package let port: Int
    /// The `name:password` that the proxy requires. Nil means none.
    private let password: String?
    private let listener: Int32
    private let state = Mutex((tunnels: 0, open: Set<Int32>()))
    private let threads = DispatchGroup()

    package init(password: String? = nil) throws {
        self.password = password
        (listener, port) = try LoopbackSocket.listen(backlog: 64)
        start { [self] in
            while true {
                let client = accept(listener, nil, nil)
                if client < 0 { break }
                state.withLock { _ = $0.open.insert(client) }
                start { [self] in
                    serve(client)
                    state.withLock { _ = $0.open.remove(client) }
                    close(client)
                }
            }
        }
    }

    /// The number of tunnels that were opened.
    package var tunnels: Int { state.withLock { $0.tunnels } }

    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        state.withLock { for client in $0.open { shutdown(client, Int32(SHUT_RDWR)) } }
        threads.wait()
        close(listener)
    }

    private func start(_ body: @escaping @Sendable () -> Void) {
        threads.enter()
        Thread.detachNewThread { [threads] in
            body()
            threads.leave()
        }
    }

    private func serve(_ client: Int32) {
        guard let first = read(client, 1)?.first else { return }
        let target: Int? =
            switch first {
            case 5: socks5(client)
            case 4: socks4(client)
            default: connect(client, first)
            }
        guard let target, let server = try? LoopbackSocket.connect(port: target) else { return }
        state.withLock { $0.tunnels += 1 }
        relay(client, server)
        close(server)
    }

    // MARK: The three protocols; each function returns the port

    private func connect(_ client: Int32, _ first: UInt8) -> Int? {
        var head = [first]
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = read(client, 1) else { return nil }
            head += byte
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3, words[0] == "CONNECT", let port = words[1].split(separator: ":").last else {
            return nil
        }
        if let password {
            let wanted = "Proxy-Authorization: Basic " + Data(password.utf8).base64EncodedString()
            guard lines.contains(Substring(wanted)) else {
                write(client, Array("HTTP/1.1 407 Who?\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
                return nil
            }
        }
        write(client, Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
        return Int(port)
    }

    /// Answers SOCKS 5 (RFC 1928), with a password as in RFC 1929.
    private func socks5(_ client: Int32) -> Int? {
        guard let count = read(client, 1)?.first, read(client, Int(count)) != nil else { return nil }
        write(client, [5, password == nil ? 0 : 2])
        if let password {
            guard read(client, 1) != nil, let name = counted(client), let word = counted(client) else { return nil }
            let isRight = "\(name):\(word)" == password
            write(client, [1, isRight ? 0 : 1])
            if !isRight { return nil }
        }
        guard let request = read(client, 4) else { return nil }
        switch request[3] {
        case 1: _ = read(client, 4)
        case 3: _ = counted(client)
        default: _ = read(client, 16)
        }
        guard let port = read(client, 2) else { return nil }
        write(client, [5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
        return Int(port[0]) << 8 | Int(port[1])
    }

    private func socks4(_ client: Int32) -> Int? {
        guard let request = read(client, 7) else { return nil }
        while let byte = read(client, 1), byte != [0] {}
        write(client, [0, 90, 0, 0, 0, 0, 0, 0])
        return Int(request[1]) << 8 | Int(request[2])
    }

    private func counted(_ client: Int32) -> String? {
        guard let count = read(client, 1)?.first else { return nil }
        return read(client, Int(count)).map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Bytes

    private func relay(_ one: Int32, _ other: Int32) {
        var watched = [one, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while poll(&watched, 2, -1) > 0 {
            for (index, target) in [(0, other), (1, one)] where watched[index].revents != 0 {
                let count = Glibc.read(watched[index].fd, &buffer, buffer.count)
                guard count > 0, write(target, Array(buffer[..<count])) else {
                    shutdown(target, Int32(SHUT_RDWR))
                    return
                }
            }
        }
    }

    private func read(_ socket: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { Glibc.read(socket, $0.baseAddress! + filled, count - filled) }
            if got <= 0 { return nil }
            filled += got
        }
        return bytes
    }

    @discardableResult
    private func write(_ socket: Int32, _ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }
}
