import CTestSupport
import Foundation

/// The bytes of one connection, with or without TLS. Only one thread uses it.
final class Wire {
    let descriptor: Int32
    /// Whether TLS is ended with close_notify, as it should be.
    var notifiesClose = true
    private var tls: OpaquePointer?
    private var context: OpaquePointer?

    /// What is done to the last record before it is sent.
    enum Damage {
        /// The MAC of the record is made wrong.
        case corrupt
        /// The second half of the record is not sent.
        case half
    }

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var noDelay: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        if let tls { dlmtest_tls_free(tls) }
        if let context { dlmtest_tls_context_free(context) }
    }

    var speaksHTTP2: Bool { tls.map { dlmtest_tls_speaks_h2($0) != 0 } ?? false }

    // MARK: Reading

    /// Appends the next bytes to `pending`. Returns false at the end of the connection.
    func receive(into pending: inout [UInt8]) -> Bool {
        if tls == nil { return receiveRaw(into: &pending) }
        let before = pending.count
        var records: [UInt8] = []
        while true {
            let goesOn = decrypt(records, into: &pending)
            if pending.count > before { return true }
            records.removeAll()
            guard goesOn, receiveRaw(into: &records) else { return false }
        }
    }

    private func decrypt(_ records: [UInt8], into pending: inout [UInt8]) -> Bool {
        guard let tls, dlmtest_tls_feed(tls, records, records.count) != 0 else { return false }
        var piece = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = dlmtest_tls_read(tls, &piece, Int32(piece.count))
            // A key update or an alert may need an answer.
            guard count >= 0, flush() else { return false }
            if count == 0 { return true }
            pending.append(contentsOf: piece[..<Int(count)])
        }
    }

    private func receiveRaw(into pending: inout [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count > 0 {
                pending.append(contentsOf: piece[..<count])
                return true
            }
            if count < 0, errno == EINTR { continue }
            return false
        }
    }

    /// Waits until bytes, or the end of the connection, can be received. Returns false after this time.
    func waitForInput(milliseconds: Int32) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, milliseconds) > 0
    }

    /// Reads and discards bytes until the peer ends the connection or the server is stopped.
    func waitForEnd() {
        var scratch: [UInt8] = []
        while receiveRaw(into: &scratch) { scratch.removeAll() }
    }

    /// Waits between the slices of a throttled reply. Returns false early if the connection ends.
    @discardableResult
    func pause(_ duration: Duration) -> Bool {
        var watched = pollfd(fd: descriptor, events: 0, revents: 0)
        let (seconds, attoseconds) = duration.components
        return poll(&watched, 1, Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000)) == 0
    }

    /// Waits until the client has closed the connection, at most this long. Returns false if the client has closed it.
    func standStill(_ duration: Duration) -> Bool {
        // The event is POLLRDHUP of poll(2), which Swift's Glibc lacks.
        var watched = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        return poll(&watched, 1, Int32(duration / .milliseconds(1))) == 0
    }

    // MARK: Writing

    /// Limits the bytes that the kernel buffers until the client reads them: see ``promised(atMost:connections:)``.
    func limitUnread() {
        var size: Int32 = 1 << 16
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    func send(_ bytes: [UInt8], damage: Damage? = nil) -> Bool {
        guard let tls else { return sendRaw(bytes) }
        return dlmtest_tls_write(tls, bytes, Int32(bytes.count)) != 0 && flush(damage)
    }

    private func flush(_ damage: Damage? = nil) -> Bool {
        guard let tls else { return true }
        var records: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = dlmtest_tls_drain(tls, &piece, piece.count), count > 0 {
            records.append(contentsOf: piece[..<count])
        }
        if records.isEmpty { return true }
        switch damage {
        case nil: break
        case .corrupt: records[records.count - 1] ^= 0xFF
        case .half: records.removeLast(records.count / 2)
        }
        return sendRaw(records)
    }

    private func sendRaw(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while let base = rest.baseAddress, !rest.isEmpty {
                let count = Glibc.send(descriptor, base, rest.count, Int32(MSG_NOSIGNAL))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
            return true
        }
    }

    // MARK: The ends

    /// Does the handshake. Returns false if the connection is over after it.
    func secure(_ behaviour: TLSBehaviour) -> Bool {
        let protocols = (behaviour.offersHTTP2 ? "\u{2}h2" : "") + "\u{8}http/1.1"
        context = dlmtest_tls_context_create(
            behaviour.identity.certificate, behaviour.identity.key, Int32(behaviour.versions.lowerBound),
            Int32(behaviour.versions.upperBound), protocols,
            behaviour.wantsClientCertificate || behaviour.clientAuthority != nil ? 1 : 0, behaviour.clientAuthority)
        guard let context, let session = dlmtest_tls_create(context) else {
            fatalError("OpenSSL cannot serve \(behaviour)")
        }
        var hello: [UInt8] = []
        guard receiveRaw(into: &hello) else {
            dlmtest_tls_free(session)
            return false
        }
        switch behaviour.handshake {
        case .completed, .cut:
            tls = session
            return shakeHands(session, hello, cuts: behaviour.handshake == .cut)
        case .garbage: _ = sendRaw((0..<400).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        case .plainHTTP:
            _ = sendRaw(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
        case .closed: break
        case .reset: reset()
        case .stalled: waitForEnd()
        }
        dlmtest_tls_free(session)
        return false
    }

    private func shakeHands(_ tls: OpaquePointer, _ hello: [UInt8], cuts: Bool) -> Bool {
        var incoming = hello
        while true {
            guard dlmtest_tls_feed(tls, incoming, incoming.count) != 0 else { return false }
            let state = dlmtest_tls_accept(tls)
            guard flush(cuts ? .half : nil), state >= 0, !cuts else { return false }
            if state == 1 { return true }
            incoming.removeAll()
            guard receiveRaw(into: &incoming) else { return false }
        }
    }

    /// Waits until the peer's kernel has acknowledged the written bytes. Then makes the close of the descriptor send
    /// RST instead of FIN.
    func reset() {
        LoopbackSocket.waitUntilTaken(descriptor)
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        notifiesClose = false
    }

    /// Ends TLS in order. The caller closes the descriptor.
    func end() {
        guard let tls, notifiesClose else { return }
        dlmtest_tls_notify_close(tls)
        _ = flush()
    }
}
