import CCurl
import DownloadCore
import Foundation
import Synchronization

/// The transport on libcurl: one or more engine threads, each with its own handles and connections.
package final class CurlTransport: Transport {
    private let loops: [CurlLoop]
    private let next = Atomic<Int>(0)

    /// - Parameter engines: threads; up to three are worth having (docs/architecture.md).
    package init(engines: Int = 1, environment: [String: String]) throws(DownloadError) {
        guard Self.isInitialized else { throw .unexpected("libcurl cannot be initialised") }
        Self.raiseDescriptorLimit()
        let authorities = CertificateAuthorities(environment: environment)
        let limiter = SharedLimiter()
        var loops: [CurlLoop] = []
        for index in 0..<max(1, engines) {
            loops.append(try CurlLoop(name: "dlm-engine-\(index)", authorities: authorities, limiter: limiter))
        }
        self.loops = loops
    }

    package func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue % loops.count
        let transfer = CurlTransfer(request: request, sink: sink, loop: loops[index])
        loops[index].send(.start(transfer))
        return transfer
    }

    package func shutdown() {
        for loop in loops { loop.send(.shutdown) }
        for loop in loops { loop.join() }
    }

    /// Once for the process: not safe to repeat from several threads before libcurl 7.84.
    private static let isInitialized = dlm_curl_global_init() == CURLE_OK

    /// Every transfer needs a socket, every file a descriptor.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// Which certificate authorities to trust: what the variables say that curl and OpenSSL know, else the system's.
struct CertificateAuthorities: Sendable {
    let file: String?
    /// One of files named by hashes, searched besides. It costs each connection some 40 ms, so nobody gets it unasked.
    let folder: String?

    init(environment: [String: String]) {
        let named = environment.filter { !$0.value.isEmpty }
        let system = "/etc/ssl/certs/ca-certificates.crt"
        file =
            named["CURL_CA_BUNDLE"] ?? named["SSL_CERT_FILE"] ?? (access(system, R_OK) == 0 ? system : nil)
        folder = named["CURL_CA_BUNDLE"] == nil ? named["SSL_CERT_DIR"] : nil
    }
}
