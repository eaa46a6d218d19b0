import CCurl
import CSystem
import DownloadCore
import DownloadSystem
import Glibc

/// A libcurl multi handle on the loop's epoll, with the sockets and the timer that libcurl asks for.
final class MultiHandle {
    let pointer: UnsafeMutableRawPointer
    private let sockets: SocketWatch
    /// The tag that marks the sockets of this handle in epoll data. The other multi handle uses the same epoll.
    let tag: UInt32
    /// The loop time in ms at which libcurl wants to be called; nil if libcurl needs no call.
    fileprivate(set) var deadline: Int64?

    init?(sockets: SocketWatch, tag: UInt32, multiplexes: Bool) {
        guard let pointer = curl_multi_init() else { return nil }
        self.pointer = pointer
        self.sockets = sockets
        self.tag = tag
        let context = Unmanaged.passUnretained(self).toOpaque()
        let codes = [
            dlm_multi_set_callbacks(pointer, onSocket, onTimer, context),
            // These two limits are only safety nets, because the scheduler decides how much runs at once.
            dlm_multi_set_long(pointer, CURLMOPT_MAX_TOTAL_CONNECTIONS, 2048),
            dlm_multi_set_long(pointer, CURLMOPT_MAX_HOST_CONNECTIONS, multiplexes ? 2 : 2048),
            // The limit for idle connections is fixed. libcurl's default limit shrinks when transfers end, and libcurl
            // then closes connections that could be used again. 0 would stand for that default.
            dlm_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, max(1, FreeDescriptors.idleConnections())),
            dlm_multi_set_long(pointer, CURLMOPT_PIPELINING, multiplexes ? 2 : 0),
        ]
        guard codes.allSatisfy({ $0 == CURLM_OK }) else { return nil }
    }

    /// Frees the multi handle. This object must outlive the call, because closing TLS connections calls the socket
    /// callback.
    func close() { curl_multi_cleanup(pointer) }

    func socketReady(_ socket: Int32, flags: UInt32) -> CURLMcode {
        dlm_multi_socket(pointer, socket, Int32(flags))
    }

    /// Calls libcurl if its timer is due.
    func fireTimer(now: Int64) -> CURLMcode {
        guard let deadline, deadline <= now else { return CURLM_OK }
        self.deadline = nil
        return dlm_multi_timeout(pointer)
    }

    fileprivate func watch(_ socket: Int32, _ what: Int32) {
        let failed: Int32
        switch what {
        case CURL_POLL_REMOVE:
            return sockets.drop(socket)
        case CURL_POLL_IN: failed = set(socket, DLM_READABLE.rawValue)
        case CURL_POLL_OUT: failed = set(socket, DLM_WRITABLE.rawValue)
        case CURL_POLL_INOUT: failed = set(socket, DLM_READABLE.rawValue | DLM_WRITABLE.rawValue)
        default: failed = set(socket, 0)
        }
        // Memory or epoll watches have run out. Only the timer is left to make progress.
        if failed != 0 { deadline = CurlLoop.time() + 10 }
    }

    private func set(_ socket: Int32, _ events: UInt32) -> Int32 {
        sockets.watch(socket, events, UInt64(tag) << 32 | UInt64(UInt32(bitPattern: socket)))
    }
}

/// The sockets on a loop's epoll. A socket that libcurl drops stays on the epoll, because its connection is often
/// reused at once. This class is used by the engine thread only.
final class SocketWatch {
    let epoll: Int32
    /// The sockets that libcurl does not watch at the moment. Some of them may be closed. The kernel removes closed
    /// sockets from the epoll.
    private var dropped: Set<Int32> = []
    /// All sockets that were watched. Some may be closed, and their numbers may be used for something else.
    private var seen: Set<Int32> = []

    init(epoll: Int32) { self.epoll = epoll }

    /// Watches a socket, and returns 0 or, on failure, -1. A dropped socket may have been closed, and its number may
    /// belong to a new socket now. `dlm_epoll_set` handles both cases.
    func watch(_ socket: Int32, _ events: UInt32, _ data: UInt64) -> Int32 {
        dropped.remove(socket)
        seen.insert(socket)
        return dlm_epoll_set(epoll, socket, events, data)
    }

    func drop(_ socket: Int32) { dropped.insert(socket) }

    /// Shuts down the connections whose local address is gone. libcurl finds that such a connection has ended when it
    /// uses the connection.
    func shutDown(where isGone: (String) -> Bool) {
        for socket in seen {
            guard let address = Self.localAddress(socket) else {
                seen.remove(socket)
                continue
            }
            if isGone(address) { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Returns whether the event of a socket is to be ignored, because libcurl has dropped the socket. Such a socket
    /// is taken off the epoll, so no more events follow.
    func ignores(_ socket: Int32) -> Bool {
        guard dropped.remove(socket) != nil else { return false }
        _ = dlm_epoll_remove(epoll, socket)
        return true
    }
}

private func onSocket(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return -1 }
    if let easy, what != CURL_POLL_REMOVE { EasyHandle.transfer(of: easy)?.socket = socket }
    Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue().watch(socket, what)
    return 0
}

private func onTimer(_ multi: UnsafeMutableRawPointer?, _ timeout: Int, _ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context else { return -1 }
    let multi = Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
    multi.deadline = timeout < 0 ? nil : CurlLoop.time() + Int64(timeout)
    return 0
}
