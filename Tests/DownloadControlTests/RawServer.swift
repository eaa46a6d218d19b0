import DownloadTestSupport
import Foundation
import Synchronization

/// A peer on the socket of a session, which sends the same reply to every client.
final class RawServer: Sendable {
    private let listener: Int32
    private let said: Mutex<[UInt8]>

    /// The reply to the next client.
    var reply: [UInt8] {
        get { said.withLock(\.self) }
        set { said.withLock { $0 = newValue } }
    }

    /// - Parameter clients: How many clients are served before the server stops listening.
    init(_ reply: String, unixSocket path: String, isEndless: Bool = false, clients: Int = .max) throws {
        said = Mutex(Array(reply.utf8))
        listener = try LoopbackSocket.listen(unixSocket: path, backlog: 16)
        Thread.detachNewThread { [self] in
            for _ in 0..<clients {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0 { return }
                Self.serve(descriptor, self.reply, isEndless: isEndless)
                close(descriptor)
            }
            stop()
            // A shutdown leaves the clients in the queue connected, unlike the end of a process, so they are closed
            // here.
            while case let waiting = accept(listener, nil, nil), waiting >= 0 { close(waiting) }
        }
    }

    deinit { close(listener) }

    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func serve(_ descriptor: Int32, _ reply: [UInt8], isEndless: Bool) {
        var asked = [UInt8](repeating: 0, count: 65536)
        guard read(descriptor, &asked, asked.count) > 0 else { return }
        repeat {
            guard send(descriptor, reply, reply.count, Int32(MSG_NOSIGNAL)) > 0 else { return }
        } while isEndless
    }
}
