import CurlTransport
import DownloadCore
import DownloadStorage
import Foundation

/// The interface for `dlm doctor`. It creates no store and starts no session.
extension DownloadSession {
    /// Returns the features of this machine's libcurl.
    /// - Throws: ``DownloadError`` if libcurl cannot be loaded.
    package static func transportFeatures(environment: [String: String]) throws(DownloadError) -> TransportFeatures {
        try CurlTransport.features(environment: environment)
    }

    /// Checks a store, if there is one. The check of a large store takes a few seconds.
    package static func storeHealth(stateFolder: String) -> StoreHealth {
        storeHealth(stateFolder: stateFolder, time: SystemTime())
    }

    package static func storeHealth(stateFolder: String, time: any TimeSource) -> StoreHealth {
        StoreCheck.health(ofStoreIn: stateFolder, time)
    }

    /// Returns what live and dead sessions have left in a state folder.
    package static func sessionTraces(stateFolder: String) -> [SessionTrace] {
        SessionRegistry(stateFolder: stateFolder).traces()
    }

    /// Requests the first byte of a URL, and returns everything that was learned from the answer.
    /// - Parameter environment: Names the certificate authorities to trust and the home folder.
    /// - Throws: ``DownloadError`` if libcurl cannot be loaded.
    package static func probe(
        _ request: DownloadRequest, environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> ProbedRequest {
        try await probe(request, environment: environment, time: SystemTime())
    }

    package static func probe(
        _ request: DownloadRequest, environment: [String: String], time: any TimeSource
    ) async throws -> ProbedRequest {
        let transport = try CurlTransport(environment: environment)
        defer { transport.shutdown() }
        return await RequestProbe(
            request, over: transport, userAgent: "dlm/\(version)", strictHosts: strictHosts(environment, time),
            time: time
        ).run()
    }
}
