import DownloadCore
import HTTPTypes

/// The request for a small document, such as a checksum file, which is read into memory. Redirects, retries and trust
/// follow the request, as for a download. Nothing is recorded.
package struct DocumentFetch: Sendable {
    private var asked: RedirectingRequest
    private var request: DownloadRequest { asked.request }
    private var time: any TimeSource { asked.time }

    /// - Parameters:
    ///   - largest: The maximum size in bytes. A larger document is an error.
    ///   - sendsCredentials: False if the URL comes from a third party.
    package init(
        _ request: DownloadRequest, over transport: any Transport, userAgent: String, largest: Int,
        strictHosts: HSTSStore?, sendsCredentials: Bool = true, time: any TimeSource = SystemTime()
    ) {
        asked = RedirectingRequest(
            request: request, transport: transport, userAgent: userAgent, strictHosts: strictHosts, time: time,
            largest: largest, sendsCredentials: sendsCredentials)
    }

    /// Sends the cookies of a session, and adds to them the cookies that the servers set.
    package mutating func remember(_ memory: CookieMemory?) { asked.memory = memory }

    package func run() async throws -> [UInt8] {
        var failures = 0
        while true {
            do throws(Failure) {
                return try await attempt().bytes
            } catch {
                let decision = request.retry.decide(
                    error.error, failures: failures, retryAfter: error.retryAfter, jitter: .random(in: 0...1))
                guard case .retry(let delay) = decision, request.mayBeSentAgain(after: error.error) else {
                    throw error.error
                }
                failures += 1
                try await time.sleep(for: .seconds(delay))
            }
        }
    }

    /// Makes one attempt, which is ended at the time limit.
    package func once(within limit: Duration) async -> Result<ProofDocument, DownloadError> {
        await withTaskGroup(of: Result<ProofDocument, DownloadError>?.self) { group in
            group.addTask {
                do throws(Failure) { return .success(try await attempt()) } catch { return .failure(error.error) }
            }
            group.addTask {
                try? await time.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next().flatMap(\.self) ?? .failure(Self.late(request.url))
        }
    }

    private struct Failure: Error {
        let error: DownloadError
        var retryAfter: Double?
    }

    private func attempt() async throws(Failure) -> ProofDocument {
        let outcome: RedirectingRequest.Outcome
        do throws(DownloadError) { outcome = try await asked.run() } catch { throw Failure(error: error) }
        let (url, answer) = (outcome.last.url, outcome.last.answer)
        if answer.isTooLarge {
            throw Failure(error: .verificationFailed(.unverifiable("\(url): more than \(asked.largest) bytes")))
        }
        let excess = DownloadError.protocolViolated(.malformedReply("more bytes than its Content-Length announces"))
        switch EndedTransfer(result: answer.result, verdict: outcome.verdict, excess: excess).outcome {
        case .complete:
            let modified = answer.head?.fields.value(.lastModified).flatMap { HTTPDate.parse($0, now: time.date) }
            return ProofDocument(answer.body, modified: modified)
        case .lost(let error), .failed(let error): throw Failure(error: error)
        case .declined(let error):
            let pause = answer.head.flatMap { ServerPause($0, url, now: time.date) }
            throw Failure(error: error, retryAfter: pause?.seconds)
        // `.stopped` means that the time limit has ended the transfer. The other outcomes do not occur for a single
        // request.
        case .stopped, .cut, .redirected, .fileRefused, .changed: throw Failure(error: Self.late(url))
        }
    }

    private static func late(_ url: SourceURL) -> DownloadError {
        .networkFailed(.timedOut, TransportDiagnosis(code: 0, message: "\(url)"))
    }
}
