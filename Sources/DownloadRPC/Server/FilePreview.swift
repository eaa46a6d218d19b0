import DownloadControl
import DownloadCore
import DownloadSystem
import Foundation

/// A preview of a download that a person is about to add: the answer to `POST /v1/probe`.
package final class FilePreview: Sendable {
    package typealias Probe = @Sendable (DownloadRequest) async throws -> ProbedRequest

    let rule: RequestRule
    let probe: Probe
    private let slots = Slots(most)
    /// The greatest number of servers that are asked at the same time. Each question has a thread and descriptors.
    static let most = 8
    private static let descriptors = 10

    struct TooMany: Error {}

    init(rule: RequestRule, probe: @escaping Probe) {
        self.rule = rule
        self.probe = probe
    }

    /// - Parameter body: `{"url": "...", "folder": "..."}`.
    /// - Throws: ``WireProblem`` for a request that is not permitted, ``TooMany``, or the error with which a download
    ///   would fail.
    func document(_ body: Data) async throws -> JSONValue {
        guard let fields = JSONValue(body)?.fields, let text = fields["url"]?.text else {
            throw WireProblem("give a JSON object with a url")
        }
        let parsed = try SourceURL.given(text)
        var request = DownloadRequest(
            url: parsed.url, destination: Destination(folder: fields["folder"]?.text ?? rule.folders.standard))
        request.credential = parsed.credential
        request = try rule.checked(request)
        guard let slot = slots.take(), FreeDescriptors.hasRoom(for: Self.descriptors) else { throw TooMany() }
        defer { withExtendedLifetime(slot) {} }
        let probed = try await probe(request)
        guard let abilities = probed.abilities, let last = probed.steps.last else {
            throw probed.error ?? .unexpected("the server did not answer")
        }
        let path = FileNaming.path(request.destination.folder, abilities.name)
        return [
            "version": .integer(1), "url": .string(last.text), "name": .string(abilities.name),
            "size": abilities.total.map { .integer($0) } ?? .null, "resumable": .bool(abilities.ranges != .ignored),
            "exists": .bool(FileStatus.of(path) != nil),
        ]
    }
}
