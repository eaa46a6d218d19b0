import CCurl
import CSystem
import DownloadCore
import Foundation
import Synchronization

/// An engine thread. Only this thread calls libcurl for its transfers. Commands come through a queue and an eventfd.
final class CurlLoop: @unchecked Sendable {
    enum Command {
        case start(CurlTransfer)
        /// Start the transfer on its own connection, without waiting for the first transfer to the origin.
        case startAlone(CurlTransfer)
        case cancel(CurlTransfer)
        case resume(CurlTransfer)
        /// Return the remote address of the transfer's connection.
        case locate(CurlTransfer, CheckedContinuation<String?, Never>)
        case dropConnections(except: Set<String>)
        case shutdown

        /// Answers a command that the thread does not obey any more.
        func drop() {
            switch self {
            case .start(let transfer), .startAlone(let transfer): transfer.finish(TransferResult(.cancelled))
            case .locate(_, let answer): answer.resume(returning: nil)
            case .cancel, .resume, .dropConnections, .shutdown: break
            }
        }
    }

    private struct Inbox {
        var commands: [Command] = []
        /// Whether the thread waits, or is about to wait, and must be woken for a command.
        var needsWaking = false
        var isClosed = false
    }

    /// The number of the engine in the roster; nil for the side engine.
    let number: Int?
    private let inbox = Mutex(Inbox())
    private let wakeUp: Int32
    let sockets: SocketWatch
    private let ended = DispatchSemaphore(value: 0)

    // The properties below are used by the engine thread only.
    private(set) var now: Int64 = CurlLoop.time()
    let shared: SharedState
    /// The multi handles for HTTP/1.1 and for HTTP/2. With a single multi handle, a transfer that may use either
    /// version could get an idle connection with HTTP/1.1.
    private let multis: [MultiHandle]
    private var bulk: MultiHandle { multis[0] }
    private var mux: MultiHandle { multis[1] }
    let lastHead = LastHead()
    private var handles = HandlePool()
    private(set) var active: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    var gate: BandwidthGate
    private var nextStallCheck = CurlLoop.time() + CurlLoop.stallCheckInterval
    var nudging = Nudging()
    private var isRunning = true

    private static let stallCheckInterval: Int64 = 200
    private static let wakeUpTag: UInt64 = .max

    init(_ number: Int?, shared: SharedState) throws(DownloadError) {
        self.number = number
        self.shared = shared
        gate = BandwidthGate(shared)
        sockets = SocketWatch(epoll: dlm_epoll_create())
        wakeUp = dlm_eventfd()
        guard sockets.epoll >= 0, wakeUp >= 0,
            sockets.watch(wakeUp, DLM_READABLE.rawValue, Self.wakeUpTag) == 0
        else { throw .unexpected("cannot make an event queue: \(String(cString: strerror(errno)))") }
        guard let bulk = MultiHandle(sockets: sockets, tag: 0, multiplexes: false),
            let mux = MultiHandle(sockets: sockets, tag: 1, multiplexes: true)
        else { throw .unexpected("libcurl cannot make a multi handle") }
        multis = [bulk, mux]
        try EngineThread.start("dlm-engine-" + (number.map(String.init) ?? "side")) { [self] in
            run()
            ended.signal()
        }
    }

    func send(_ command: Command) {
        let isClosed = inbox.withLock { inbox in
            if inbox.isClosed { return true }
            inbox.commands.append(command)
            // The signal is sent under the lock. Otherwise the thread could end and close the descriptor first, and
            // another file could get the descriptor's number.
            if inbox.needsWaking { _ = dlm_eventfd_signal(wakeUp) }
            inbox.needsWaking = false
            return false
        }
        if isClosed { command.drop() }
    }

    /// Waits for the end of the thread, after `.shutdown`.
    func join() {
        ended.wait()
        ended.signal()
    }

    /// Returns the time of a monotonic clock in milliseconds.
    static func time() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }

    // MARK: The thread

    private func run() {
        var events = [dlm_event](repeating: dlm_event(), count: 64)
        while isRunning {
            let count = dlm_epoll_wait(sockets.epoll, &events, 64, isCalled() ? 0 : timeout())
            now = Self.time()
            for event in events.prefix(max(0, Int(count))) {
                if event.data == Self.wakeUpTag {
                    dlm_eventfd_drain(wakeUp)
                } else {
                    let multi = event.data >> 32 == 0 ? bulk : mux
                    let socket = Int32(bitPattern: UInt32(truncatingIfNeeded: event.data))
                    if !sockets.ignores(socket) { survive(multi, multi.socketReady(socket, flags: event.events)) }
                }
            }
            // Finished transfers are collected before any transfer is resumed, because libcurl returns an error if a
            // finished transfer is resumed.
            collectFinished()
            obeyCommands()
            for transfer in gate.release(now: now) { goOn(transfer) }
            for multi in multis { survive(multi, multi.fireTimer(now: now)) }
            collectFinished()
            nudge()
            if now >= nextStallCheck { cutStalled() }
        }
        end()
    }

    /// Returns whether commands wait. If no command waits, the next command wakes the thread.
    private func isCalled() -> Bool {
        inbox.withLock { inbox in
            inbox.needsWaking = inbox.commands.isEmpty
            return !inbox.needsWaking
        }
    }

    private func timeout() -> Int32 {
        var soonest = min(bulk.deadline ?? .max, mux.deadline ?? .max, gate.deadline ?? .max)
        if !active.isEmpty { soonest = min(soonest, nextStallCheck) }
        if nudging.mayBeNeeded { soonest = min(soonest, nudging.next) }
        if soonest == .max { return -1 }
        return Int32(clamping: max(0, soonest - Self.time()))
    }

    private func obeyCommands() {
        let commands = inbox.withLock { inbox in
            inbox.needsWaking = false
            defer { inbox.commands = [] }
            return inbox.commands
        }
        for command in commands {
            switch command {
            case .start(let transfer): start(transfer)
            case .startAlone(let transfer):
                if transfer.sink != nil { begin(transfer, on: bulk, waitsForConnection: false) }
            case .cancel(let transfer): cancel(transfer)
            case .resume(let transfer): resume(transfer)
            case .locate(let transfer, let answer): answer.resume(returning: transfer.easy?.remoteAddress)
            case .dropConnections(let usable): dropConnections(except: usable)
            case .shutdown: isRunning = false
            }
        }
    }

    private func start(_ transfer: CurlTransfer) {
        // The transfer was cancelled while the command was in the queue.
        if transfer.sink == nil { return }
        if transfer.request.dnsCacheTime != nil, refuseFailedName(transfer) { return }
        // While a transfer on a shared connection is suspended, libcurl stores up to a whole HTTP/2 window of its
        // bytes. So a transfer with a rate limit gets its own connection.
        guard transfer.request.prefersMultiplexing, transfer.request.url.scheme == "https", !transfer.request.isLimited
        else {
            return begin(transfer, on: bulk, waitsForConnection: false)
        }
        switch shared.origins.withLock({ $0.route(transfer.origin, transfer) }) {
        case .multiplexed: begin(transfer, on: mux, waitsForConnection: true)
        case .plain: begin(transfer, on: bulk, waitsForConnection: false)
        case .scout: begin(transfer, on: mux, waitsForConnection: false)
        case .held: break
        }
    }

    private func begin(_ transfer: CurlTransfer, on multi: MultiHandle, waitsForConnection: Bool) {
        let own = usesHTTP3(transfer) ? DLM_HTTP_3 : DLM_HTTP_1_1
        let setting = EasyHandle.Setting(
            bufferSize: bufferSize(for: transfer.request, on: multi),
            version: multi === mux ? DLM_HTTP_2_OVER_TLS : own, waitsForConnection: waitsForConnection,
            offset: transfer.remote?.offset ?? 0, listsFolder: transfer.remote?.suspicion != nil)
        guard let easy = handles.handle(for: transfer, setting, shared) else {
            return finish(transfer, TransferResult(.failed(.unexpected("out of memory for a transfer"))))
        }
        chooseAnswer(for: transfer, easy)
        if transfer.needsNudging { nudging.mayBeNeeded = true }
        transfer.attachment = (easy, multi)
        transfer.activity.observe(at: now)
        if let code = easy.setupError {
            return finish(transfer, TransferResult(.failed(easy.failure(code, of: transfer))))
        }
        active[easy.pointer] = transfer
        let code = curl_multi_add_handle(multi.pointer, easy.pointer)
        if code != CURLM_OK {
            finish(transfer, TransferResult(.failed(.unexpected(String(cString: curl_multi_strerror(code))))))
        }
    }

    private func usesHTTP3(_ transfer: CurlTransfer) -> Bool {
        transfer.request.options.network.httpVersion == .http3
            && !shared.originsWithoutHTTP3.withLock { $0.contains(transfer.origin) }
    }

    /// Returns the size of libcurl's buffer in bytes. libcurl before 8.7 has a buffer for each transfer, so the
    /// buffers are small if there are many transfers. With 2 KiB, 400 transfers at full speed take 4 % more CPU, and
    /// 1,000 slow ones 1 MiB less (Benchmarks/NOTES.md).
    private func bufferSize(for request: TransferRequest, on multi: MultiHandle) -> Int {
        if request.isOneOfMany { return active.count < 32 ? 16 << 10 : active.count < 512 ? 4 << 10 : 2 << 10 }
        if let rate = request.lowestRate, rate < 8_000_000 { return 16 << 10 }
        return switch active.count {
        case ..<4 where multi === bulk: 512 << 10
        // Over SFTP, libcurl requests this number of bytes in advance.
        case ..<32 where request.url.known == .sftp: 512 << 10
        case ..<32: 64 << 10
        case ..<128: 32 << 10
        default: 16 << 10
        }
    }

    private func cancel(_ transfer: CurlTransfer) {
        if transfer.request.prefersMultiplexing {
            shared.origins.withLock { $0.forget(transfer.origin, transfer) }
        }
        transfer.hangUp()
        finish(transfer, TransferResult(.cancelled, metrics: transfer.easy?.metrics() ?? TransferMetrics()))
    }

    private func resume(_ transfer: CurlTransfer) {
        if transfer.delivery.hold == .sink { goOn(transfer) }
    }

    /// Resumes a transfer in libcurl. libcurl delivers the stored bytes within `curl_easy_pause`. If the write callback
    /// fails then, the error is the result of that call, and no message follows.
    private func goOn(_ transfer: CurlTransfer) {
        guard let easy = transfer.easy else { return }
        transfer.delivery.resume()
        transfer.activity.observe(at: now)
        let code = curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
        if code != CURLE_OK { finish(transfer, result(transfer, code)) }
    }

    func collectFinished() {
        for multi in multis {
            var code = CURLE_OK
            while let easy = dlm_multi_finished(multi.pointer, &code) {
                guard let transfer = active[easy] else { continue }
                transfer.noteEnd(code)
                if transfer.request.dnsCacheTime != nil { learnName(transfer, code) }
                if transfer.needsOwnConnection {
                    beginAgain(transfer)
                } else {
                    finish(transfer, result(transfer, code))
                }
            }
        }
    }

    /// Chooses between Basic and Digest if the request does not state the scheme.
    private func chooseAnswer(for transfer: CurlTransfer, _ easy: EasyHandle) {
        guard let credential = transfer.request.credential else { return }
        if transfer.head.answer == nil {
            transfer.head.answer = ChallengeAnswer(transfer.request) {
                shared.digestOrigins.withLock { $0.contains(transfer.origin) }
            }
        }
        if transfer.head.answer?.usesDigest == true { easy.authenticate(credential, by: .digest) }
    }

    private func beginAgain(_ transfer: CurlTransfer) {
        if let answer = transfer.head.answer {
            shared.digestOrigins.withLock {
                if answer.usesDigest { _ = $0.insert(transfer.origin) } else { $0.remove(transfer.origin) }
            }
        }
        release(transfer)
        transfer.beginAgain()
        begin(transfer, on: bulk, waitsForConnection: false)
    }

    func result(_ transfer: CurlTransfer, _ code: CURLcode) -> TransferResult {
        guard let easy = transfer.easy else { return TransferResult(.cancelled) }
        let ending: TransferResult.Ending =
            if let own = transfer.ownEnding {
                own
            } else if code == CURLE_OK {
                transfer.isCutShort ? .failed(Self.cutShort) : .complete
            } else {
                .failed(easy.failure(code, of: transfer))
            }
        var result = TransferResult(ending, metrics: easy.metrics())
        result.trailers = transfer.head.trailers
        result.cookies = easy.cookies(of: transfer)
        return result
    }

    private static let cutShort = DownloadError.networkFailed(
        .connectionLost,
        TransportDiagnosis(code: 0, message: "TLS ended without close_notify, so the body may be cut short"))

    /// Removes the transfer from libcurl.
    private func release(_ transfer: CurlTransfer) {
        if let attachment = transfer.attachment, active.removeValue(forKey: attachment.easy.pointer) != nil {
            curl_multi_remove_handle(attachment.multi.pointer, attachment.easy.pointer)
        }
        transfer.attachment = nil
    }

    func finish(_ transfer: CurlTransfer, _ result: TransferResult) {
        let easy = transfer.easy
        release(transfer)
        if let easy, isRunning { handles.keep(easy, of: transfer, result) }
        gate.forget(transfer)
        if case .failed(.networkFailed(let failure, _)) = result.ending, [.connectionLost, .stalled].contains(failure),
            usesHTTP3(transfer), result.metrics.httpVersion ?? "3" == "3"
        {
            _ = shared.originsWithoutHTTP3.withLock { $0.insert(transfer.origin) }
        }
        transfer.finish(result)
        // If the first transfer to an origin ended without a head, the HTTP version is unknown, and the waiting
        // transfers start alone.
        guard transfer.request.prefersMultiplexing else { return }
        let origin = transfer.origin
        for held in shared.origins.withLock({ $0.scoutEnded(origin, transfer) }) {
            held.loop.send(.startAlone(held))
        }
    }

    /// Called with every final head. The head of the first transfer to an origin shows the HTTP version of the server.
    func didReceiveHead(_ transfer: CurlTransfer, _ head: ResponseHead) {
        guard transfer.request.prefersMultiplexing else { return }
        let held = shared.origins.withLock {
            $0.learned(transfer.origin, from: transfer, multiplexes: head.httpVersion == "2")
        }
        // The transfers start in the next turn, because libcurl must not be called from within its callback.
        for other in held { other.loop.send(.start(other)) }
    }

    private func cutStalled() {
        nextStallCheck = now + Self.stallCheckInterval
        for transfer in Array(active.values) {
            if let deadline = transfer.discarded?.deadline, now > deadline {
                transfer.ownEnding = .complete
                finish(transfer, result(transfer, CURLE_OK))
            } else if isStalled(transfer) {
                let message = "no data for \(transfer.request.options.stallTimeout.formatted()) s"
                let diagnosis = TransportDiagnosis(code: Int(CURLE_OPERATION_TIMEDOUT.rawValue), message: message)
                transfer.ownEnding = .failed(.networkFailed(.stalled, diagnosis))
                transfer.hangUp()
                finish(transfer, result(transfer, CURLE_OPERATION_TIMEDOUT))
            }
        }
    }

    /// Returns whether the transfer is stalled. Before a connection exists, the connect timeout applies instead. A
    /// transfer that its sink or a limit suspends is not stalled.
    private func isStalled(_ transfer: CurlTransfer) -> Bool {
        if transfer.delivery.hold != nil { return false }
        if !transfer.activity.isConnected, let easy = transfer.easy {
            // An FTP or SSH server sends data as soon as the connection exists, so the stall timeout counts from the
            // connect. With HTTP, it counts from the time when the request can be sent.
            let info = transfer.remote == nil ? CURLINFO_PRETRANSFER_TIME_T : CURLINFO_CONNECT_TIME_T
            guard easy.seconds(info) > 0 else { return false }
            transfer.activity.connect(since: now - Self.stallCheckInterval)
        }
        return transfer.activity.isStalled(at: now, after: transfer.request.options.stallTimeout)
    }

    /// Ends all transfers of a multi handle that has failed, because the handle cannot be repaired. The transfers end
    /// with an unexpected error, which is not retried automatically.
    func survive(_ multi: MultiHandle, _ code: CURLMcode) {
        guard code != CURLM_OK, code != CURLM_BAD_SOCKET else { return }
        let message = String(cString: curl_multi_strerror(code))
        for transfer in active.values where transfer.attachment?.multi === multi {
            finish(transfer, TransferResult(.failed(.unexpected("libcurl: \(message)"))))
        }
    }

    private func end() {
        let rest = inbox.withLock { inbox in
            inbox.isClosed = true
            // A transfer has a reference to its loop, so a transfer in the queue would retain both itself and the
            // loop in memory.
            defer { inbox.commands = [] }
            return inbox.commands
        }
        for command in rest { command.drop() }
        let held = shared.origins.withLock { $0.takeHeld { $0.loop === self } }
        for transfer in held + Array(active.values) { finish(transfer, TransferResult(.cancelled)) }
        handles.removeAll()
        bulk.close()
        mux.close()
        close(sockets.epoll)
        close(wakeUp)
    }
}
