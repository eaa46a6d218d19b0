import CurlTransport
import DownloadCore
import DownloadStorage
import Foundation

/// What `dlm doctor` asks: nothing here makes a store or starts a session.
extension DownloadSession {
    /// What this machine's libcurl can do.
    /// - Throws: ``DownloadError`` when it cannot be loaded.
    package static func transportFeatures(environment: [String: String]) throws(DownloadError) -> TransportFeatures {
        try CurlTransport.features(environment: environment)
    }

    /// Looks at a store, if there is one; takes a few seconds where it is large.
    package static func storeHealth(stateFolder: String) -> StoreHealth {
        storeHealth(stateFolder: stateFolder, time: SystemTime())
    }

    package static func storeHealth(stateFolder: String, time: any TimeSource) -> StoreHealth {
        StoreCheck.health(ofStoreIn: stateFolder, time)
    }

    /// What there is of sessions in a state folder, living and dead.
    package static func sessionTraces(stateFolder: String) -> [SessionTrace] {
        SessionRegistry(stateFolder: stateFolder).traces()
    }

    /// Asks for the first byte of what a URL leads to, and tells all about it.
    /// - Parameter environment: says which certificate authorities to trust and where the home folder is.
    /// - Throws: ``DownloadError`` when there is no libcurl.
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
