import CSystem
import DownloadKit
import Foundation
import Glibc
import Synchronization

/// The signals that end dlm, received one at a time by the main thread.
///
/// The signals are blocked before any other thread starts, so that every thread inherits the signal mask. If the caller
/// of dlm ignores a signal (as for nohup, or background jobs of a shell), dlm ignores the signal too.
final class Signals: Sendable {
    /// The longest time from the first signal to the end of the process, even if something hangs. In seconds.
    static let grace = 0.9

    private static let crashes = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]

    typealias Handler = @Sendable (_ signal: Int32) async -> Void

    private let numbers: [Int32]
    private let time: any TimeSource
    private let handler = Mutex<Handler?>(nil)
    private let receiver = Mutex<(@Sendable (Int32) -> Void)?>(nil)

    init(time: any TimeSource = SystemTime()) {
        self.time = time
        numbers = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
    }

    /// Blocks the signals. Also ignores SIGPIPE and SIGXFSZ, because write(2) reports the same conditions: a closed
    /// stdout, and a file that may not grow. Gives SIGQUIT, and the signals of a crash unless `$SWIFT_BACKTRACE` is set,
    /// their default actions. Otherwise Swift's runtime would start a program that prints contents of the memory, and
    /// the process would continue if another process had sent the signal. The runtime of a static program looks for
    /// that program, `swift-backtrace`, in the working folder, where a download may have this name.
    func block() {
        for number in [SIGPIPE, SIGXFSZ] { Glibc.signal(number, SIG_IGN) }
        let crashes = getenv("SWIFT_BACKTRACE") == nil ? Self.crashes : []
        for number in [SIGQUIT] + crashes where !Self.isIgnored(number) { Glibc.signal(number, SIG_DFL) }
        var set = mask
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Sets the work that is done before a signal ends the process.
    func onInterrupt(_ work: @escaping Handler) {
        handler.withLock { $0 = work }
    }

    func interrupt(by signal: Int32) async { await handler.withLock { $0 }?(signal) }

    /// Passes the next signal to `work`, on the main thread, instead of ending the process. The background session uses
    /// this method, because it ends in its own way. A second signal ends the process at once, even if something hangs.
    func receive(_ work: @escaping @Sendable (_ signal: Int32) -> Void) {
        receiver.withLock { $0 = work }
    }

    /// Waits for a signal and ends the process by that signal. Without a handler the process ends at once. With a
    /// handler it ends after the handler's work, but after ``grace`` at the latest. A second signal ends the process at
    /// once.
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

    /// Returns the next signal that arrives while there is no receiver.
    private func first(in set: inout sigset_t) -> Int32 {
        while true {
            var signal: Int32 = 0
            while sigwait(&set, &signal) != 0 {}
            guard let receiver = receiver.withLock({ $0.take() }) else { return signal }
            receiver(signal)
        }
    }

    /// Returns the next signal, or nil if none arrives within ``grace``.
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

    /// Ends the process as if the signal had never been blocked, so that shells see the cause (status 128 + number).
    static func end(by number: Int32) -> Never {
        // A terminal that takes no output may hold up the work of the handler.
        dlm_screen_leave()
        Glibc.signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        _exit(128 + number)
    }
}
