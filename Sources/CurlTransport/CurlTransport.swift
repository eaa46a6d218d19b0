import CCurl
import DownloadCore
import DownloadSystem
import Foundation
import Synchronization

/// The transport on libcurl: one or more engine threads, each with its own handles and connections.
package final class CurlTransport: Transport {
    private struct Engines {
        var loops: [CurlLoop]
        /// The side engine, for FTP and SSH servers. The engine is started with the first transfer from such a server.
        var side: CurlLoop?
        var all: [CurlLoop] { loops + (side.map { [$0] } ?? []) }
        var isClosed = false
    }

    private let shared: SharedState
    private let engines: Mutex<Engines>
    private let limits: EngineLimits

    /// - Parameter engines: the highest number of engine threads; nil for the number that suits the machine's cores
    ///   (docs/internals/engine.md). One thread is started now, the others when there are transfers for them.
    package init(engines: Int? = nil, environment: [String: String]) throws(DownloadError) {
        try Self.load()
        guard dlm_curl_global_init() == CURLE_OK else { throw .unexpected("libcurl cannot be initialised") }
        FreeDescriptors.raiseLimit()
        dlm_reserve_descriptors(Int32(clamping: FreeDescriptors.firstReserved()))
        limits =
            engines.map { EngineLimits(engines: max(1, $0)) }
            ?? EngineLimits(cores: ProcessInfo.processInfo.activeProcessorCount)
        shared = SharedState(environment: environment)
        self.engines = Mutex(Engines(loops: [try CurlLoop(0, shared: shared)]))
    }

    static func load() throws(DownloadError) {
        if let reason = dlm_curl_load() {
            throw .unexpected("libcurl cannot be loaded: \(String(cString: reason)); install it (Debian: libcurl4)")
        }
    }

    /// Starts to load libcurl in the background, because loading takes as long as a short transfer.
    package static func prepare() { dlm_curl_prepare() }

    package func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        // libcurl would copy a local file in one call, and the engine thread could do nothing else meanwhile.
        if request.url.known == .file { return Unmoved(request, sink) }
        let loop = request.url.isHTTP ? engine(for: request) : sideEngine()
        let transfer = CurlTransfer(request: request, sink: sink, loop: loop)
        loop.send(.start(transfer))
        return transfer
    }

    /// Returns the side engine. At the end of a transfer libcurl waits for the reply of an FTP server, or for the end of
    /// an SSH session. The thread can do nothing else meanwhile.
    private func sideEngine() -> CurlLoop {
        engines.withLock { engines in
            if engines.side == nil, !engines.isClosed {
                engines.side = try? CurlLoop(nil, shared: shared)
            }
            // If the side engine cannot be started, the first engine takes the transfer.
            return engines.side ?? engines.loops[0]
        }
    }

    /// The descriptors of another engine, with some for its connections.
    private static let descriptorsOfEngine = 24

    private func engine(for request: TransferRequest) -> CurlLoop {
        let isPart = request.range.map { $0 != "0-" } ?? false
        return engines.withLock { engines in
            var number = shared.roster.withLock { roster in
                let most = limits.most(isPart: isPart, active: roster.active)
                return roster.choose(request.origin, limit: engines.isClosed ? engines.loops.count : most)
            }
            if number == engines.loops.count {
                if FreeDescriptors.hasRoom(for: Self.descriptorsOfEngine),
                    let loop = try? CurlLoop(number, shared: shared)
                {
                    engines.loops.append(loop)
                } else {
                    // If the engine cannot be started, a running engine takes the transfer.
                    number = shared.roster.withLock { roster in
                        roster.dropLast()
                        return roster.choose(request.origin, limit: engines.loops.count)
                    }
                }
            }
            return engines.loops[number]
        }
    }

    package func allowance(under limits: [RateLimit]) -> any RateAllowance { LimitedCopy(shared, limits) }

    package func dropConnections(except usable: Set<String>) {
        for loop in engines.withLock({ $0.all }) { loop.send(.dropConnections(except: usable)) }
    }

    package func shutdown() {
        let loops = engines.withLock { engines in
            engines.isClosed = true
            return engines.all
        }
        for loop in loops { loop.send(.shutdown) }
        for loop in loops { loop.join() }
    }
}

/// A transfer of a `file` URL, which fails at once because the transport does not copy local files.
private final class Unmoved: Transfer {
    init(_ request: TransferRequest, _ sink: any TransferSink) {
        let error = DownloadError.requestInvalid(
            .notForScheme(request.url.string, what: "this is a file on this machine; give its path"))
        sink.transferDidFinish(TransferResult(.failed(error)))
    }

    func cancel() {}
    func resume() {}
}

/// The certificate authorities to trust: the ones that the environment variables of curl and OpenSSL name, otherwise
/// the system's.
struct CertificateAuthorities: Sendable {
    let file: String?
    /// A folder of files named by hashes, which is searched in addition to the file. The folder costs each connection
    /// some 40 ms, so a folder is used only if the environment names one.
    let folder: String?
    /// The environment variable that names the authorities; nil for the authorities of the system, or libcurl's own.
    let origin: String?

    init(environment: [String: String]) {
        let named = environment.filter { !$0.value.isEmpty }
        let system = "/etc/ssl/certs/ca-certificates.crt"
        file =
            named["CURL_CA_BUNDLE"] ?? named["SSL_CERT_FILE"] ?? (access(system, R_OK) == 0 ? system : nil)
        folder = named["CURL_CA_BUNDLE"] == nil ? named["SSL_CERT_DIR"] : nil
        origin = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"].first { named[$0] != nil }
    }
}
