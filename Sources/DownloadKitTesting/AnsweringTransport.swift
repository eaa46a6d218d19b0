import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

extension SessionTransport {
    /// Returns a transport without a network, for tests of code that uses a session. It answers each http and https
    /// request of the session with the result of the closure, which may be called on any thread.
    public static func answering(_ answer: @escaping @Sendable (TestRequest) -> TestAnswer) -> SessionTransport {
        SessionTransport { AnsweringTransport(answer) }
    }
}

private final class AnsweringTransport: Transport {
    private let answer: @Sendable (TestRequest) -> TestAnswer
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var transfers: [ScriptedTransfer] = []
        var isDown = false
    }

    init(_ answer: @escaping @Sendable (TestRequest) -> TestAnswer) { self.answer = answer }

    func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let asked = TestRequest(request, number: number)
        let answer = self.answer(asked)
        let pace = ScriptedTransfer.Pace(
            time: SystemTime(), patience: .seconds(request.options.stallTimeout), head: answer.delay,
            piece: answer.delay)
        let transfer = ScriptedTransfer(answer.playback(request, asked), pace, sink: sink)
        let isDown = state.withLock { state in
            state.transfers.append(transfer)
            return state.isDown
        }
        if isDown { transfer.cancel() }
        transfer.begin()
        return transfer
    }

    func allowance(under limits: [RateLimit]) -> any RateAllowance { BoundlessAllowance() }

    func shutdown() {
        let transfers = state.withLock { state in
            state.isDown = true
            return state.transfers
        }
        for transfer in transfers { transfer.cancel() }
    }
}
