import DownloadCore
import DownloadSystem
import Foundation

/// One request with its whole response.
struct Exchange {
    let head: ResponseHead
    let body: Data

    enum Failure: Error {
        /// The transport failed with this error.
        case transfer(DownloadError)
        case timedOut
        case tooLarge
        case cancelled
    }

    /// Sends the request and waits for the end of the response, but no longer than `patience`.
    /// - Parameter limit: the most bytes of a response, so that the process at the other end of the socket cannot fill
    ///   the memory of this process.
    init(
        _ request: TransferRequest, over transport: any Transport, atMost limit: Int, within patience: Duration,
        _ time: any TimeSource
    ) async throws(Failure) {
        let answer = await transport.answer(to: request, atMost: limit, within: patience, time)
        switch answer.result.ending {
        case .complete:
            guard let head = answer.head else { throw .transfer(.unexpected("an answer without a head")) }
            (self.head, body) = (head, Data(answer.body))
        case .failed(let error): throw answer.isLate ? .timedOut : .transfer(error)
        case .refused: throw .tooLarge
        case .cancelled: throw answer.isLate ? .timedOut : .cancelled
        }
    }
}
