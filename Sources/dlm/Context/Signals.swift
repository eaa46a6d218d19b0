import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The signals that end dlm, received one at a time by the main thread.
///
/// They are blocked before any other thread starts, so that every thread inherits the mask; those that the caller
/// ignores (nohup, background jobs of a shell) stay ignored.
final class Signals: Sendable {
    /// From the first signal to the end of the process, whatever hangs.
    static let grace = 0.9

    typealias Handler = @Sendable (_ signal: Int32) async -> Void

    private let numbers: [Int32]
    private let time: any TimeSource
    private let handler = Mutex<Handler?>(nil)
    private let receiver = Mutex<(@Sendable (Int32) -> Void)?>(nil)

    init(time: any TimeSource = SystemTime()) {
        self.time = time
        numbers = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
    }

    /// Also ignores SIGPIPE and SIGXFSZ: a closed stdout and a file that may grow no more are told by write(2). And takes
    /// SIGQUIT from Swift's runtime, which would print a report of a crash, memory included, and go on.
    func block() {
        for number in [SIGPIPE, SIGXFSZ] { Glibc.signal(number, SIG_IGN) }
        if !Self.isIgnored(SIGQUIT) { Glibc.signal(SIGQUIT, SIG_DFL) }
        var set = mask
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// What is done before the process ends by the signal.
    func onInterrupt(_ work: @escaping Handler) {
        handler.withLock { $0 = work }
    }

    /// Does what is done before the process ends by the signal; nothing where nobody has asked for that.
    func interrupt(by signal: Int32) async { await handler.withLock { $0 }?(signal) }

    /// Hands over every signal from now on, on the main thread, and ends nothing: for a process that lives on.
    func receive(_ work: @escaping @Sendable (_ signal: Int32) -> Void) {
        receiver.withLock { $0 = work }
    }

    /// Waits for a signal and ends the process by it: at once while there is no handler, else after it, and within
    /// ``grace`` in any case. A second signal ends it at once.
    func deliver() -> Never {
        var set = mask
        let signal = first(in: &set)
        if handler.withLock({ $0 != nil }) {
            Task.detached {
                await self.interrupt(by: signal)
                Self.end(by: signal)
            }
            let second = second(in: &set)
            if second == nil { Console.lastWord("not everything stopped in time; see: dlm list") }
            Self.end(by: second ?? signal)
        }
        Self.end(by: signal)
    }

    /// The next signal that nobody receives.
    private func first(in set: inout sigset_t) -> Int32 {
        while true {
            var signal: Int32 = 0
            while sigwait(&set, &signal) != 0 {}
            guard let receiver = receiver.withLock({ $0 }) else { return signal }
            receiver(signal)
        }
    }

    /// The next signal; nil when ``grace`` is over.
    private func second(in set: inout sigset_t) -> Int32? {
        let end = time.now + .seconds(Self.grace)
        while true {
            let left = (end - time.now) / .nanoseconds(1)
            guard left > 0 else { return nil }
            var limit = timespec(tv_sec: 0, tv_nsec: Int(left))
            let number = sigtimedwait(&set, nil, &limit)
            if number > 0 { return number }
        }
    }

    private var mask: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Dies as if the signal had never been blocked, so that shells see why (status 128 + number).
    static func end(by number: Int32) -> Never {
        Glibc.signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        _exit(128 + number)
    }
}
