import ArgumentParser
import DownloadKit
import Foundation

/// The request that sends the JSON document of a completed download to a URL.
enum CompletionPost {
    static let attempts = 3
    /// The delay before the second attempt, in seconds. The delay before the third attempt is twice as long.
    static let delay = 1.0
    /// The greatest size of the answer in bytes. The answer is not used.
    private static let longestAnswer = 1 << 20

    /// Throws a usage error for a URL that cannot be used or contains a password.
    static func check(_ url: String) throws {
        guard let (address, credential) = try? RequestMaker.address(url).get(), address.isHTTP else {
            throw ValidationError("--on-complete-url \(Redaction.hidden(url)): give an http or https URL")
        }
        if credential != nil {
            throw ValidationError(
                "--on-complete-url: a password would not be stored; give a token with --on-complete-bearer-file")
        }
    }

    /// Sends the document. Returns the error of the last attempt, or nil if the server accepted the document.
    static func send(
        _ document: FinishedDocument, to url: String, of hook: DueHook, _ environment: [String: String],
        _ time: any TimeSource
    ) async -> String? {
        var problem: String?
        for attempt in 0..<attempts {
            if attempt > 0 {
                guard (try? await time.sleep(for: .seconds(delay * Double(1 << (attempt - 1))))) != nil else {
                    break
                }
            }
            do {
                _ = try await DownloadSession.document(
                    try request(document, to: url, of: hook), largest: longestAnswer, environment: environment,
                    time: time)
                return nil
            } catch let error as DownloadError {
                problem = Redaction.describe(error)
                if !isPassing(error) { break }
            } catch {
                return "\(error)"
            }
        }
        return problem
    }

    /// Returns whether the same request may succeed shortly afterwards.
    private static func isPassing(_ error: DownloadError) -> Bool {
        switch error {
        case .networkFailed: true
        case .serverRefused(let status, _): status == 408 || status == 429 || status >= 500
        // All statuses from 200 to 299 are accepted, so this error is about another status.
        case .verificationFailed(.unwantedStatus(_, let status)):
            status.hasPrefix("5") || status.hasPrefix("408") || status.hasPrefix("429")
        default: false
        }
    }

    private static func request(
        _ document: FinishedDocument, to url: String, of hook: DueHook
    ) throws -> DownloadRequest {
        let (address, _) = try RequestMaker.address(url).get()
        var request = DownloadRequest(url: address, destination: Destination(folder: "/"))
        request.http.body = RequestBody(Array(document.withoutSecrets.json.utf8))
        request.headers = [RequestHeader(name: "Content-Type", value: "application/json")]
        request.secretFiles.bearer = hook.record.request.hooks?.completeBearerFile
        request.validation.statuses = StatusCodes("200-299")
        request.retry.limit = 0
        request.timeouts.total.inSeconds = hook.timeLimit
        return request
    }
}
