import ArgumentParser
import DownloadKit
import Foundation

/// The JSON document of a complete download on its way to a URL.
struct CompletionPost {
    private let url: String
    private let bearerFile: String?
    private let body: RequestBody
    private let timeLimit: Double

    /// Attempts in all.
    static let attempts = 3
    /// Seconds before the second attempt; the wait doubles after that.
    static let delay = 1.0
    /// Bytes of the answer, which nobody reads.
    private static let longestAnswer = 1 << 20

    init(_ url: String, of hook: DueHook, _ document: FinishedDocument) {
        self.url = url
        bearerFile = hook.record.request.hooks?.completeBearerFile
        body = RequestBody(Array(document.json.utf8))
        timeLimit = hook.timeLimit
    }

    /// - Throws: a usage error for a URL that nothing can be sent to, or that holds a password.
    static func check(_ url: String) throws {
        guard let (address, credential) = try? RequestMaker.address(url).get(), address.isHTTP else {
            throw ValidationError("--on-complete-url \(Redaction.hidden(url)): give an http or https URL")
        }
        if credential != nil {
            throw ValidationError(
                "--on-complete-url: a password would not be stored; give a token with --on-complete-bearer-file")
        }
    }

    /// Returns what went wrong with the last attempt; nil when the server took the document.
    func send(_ environment: [String: String], _ time: any TimeSource) async -> String? {
        var problem: String?
        for attempt in 0..<Self.attempts {
            if attempt > 0 {
                guard (try? await time.sleep(for: .seconds(Self.delay * Double(1 << (attempt - 1))))) != nil else {
                    break
                }
            }
            do {
                _ = try await DownloadSession.document(
                    try request(), largest: Self.longestAnswer, environment: environment, time: time)
                return nil
            } catch let error as DownloadError {
                problem = Redaction.describe(error)
                if !Self.isPassing(error) { break }
            } catch {
                return "\(error)"
            }
        }
        return problem
    }

    /// Whether the same request may succeed a little later.
    private static func isPassing(_ error: DownloadError) -> Bool {
        switch error {
        case .networkFailed: true
        case .serverRefused(let status, _): status == 408 || status == 429 || status >= 500
        // What was asked for is any success.
        case .verificationFailed(.unwantedStatus(_, let status)):
            status.hasPrefix("5") || status.hasPrefix("408") || status.hasPrefix("429")
        default: false
        }
    }

    private func request() throws -> DownloadRequest {
        let (address, _) = try RequestMaker.address(url).get()
        var request = DownloadRequest(url: address, destination: Destination(folder: "/"))
        request.http.body = body
        request.headers = [RequestHeader(name: "Content-Type", value: "application/json")]
        request.secretFiles.bearer = bearerFile
        request.validation.statuses = StatusCodes("200-299")
        request.retry.limit = 0
        request.timeouts.total = timeLimit
        return request
    }
}
