import DownloadTestSupport
import Foundation
import Synchronization

/// Listens where a session should, and says to everybody the same.
final class RawServer: Sendable {
    private let listener: Int32
    private let isStopped = Mutex(false)

    init(_ reply: String, unixSocket path: String, isEndless: Bool = false) throws {
        listener = try LoopbackSocket.listen(unixSocket: path, backlog: 16)
        Thread.detachNewThread { [self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0 { return }
                Self.serve(descriptor, Array(reply.utf8), isEndless: isEndless)
                close(descriptor)
            }
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
