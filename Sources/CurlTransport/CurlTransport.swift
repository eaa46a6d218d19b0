import CCurl
import DownloadCore
import Foundation
import Synchronization

/// The transport on libcurl: one or more engine threads, each with its own handles and connections.
package final class CurlTransport: Transport {
    private struct Engines {
        var loops: [CurlLoop]
        /// For servers without HTTP, started when there is one.
        var side: CurlLoop?
        var all: [CurlLoop] { loops + (side.map { [$0] } ?? []) }
        var isClosed = false
    }

    private let shared: SharedState
    private let engines: Mutex<Engines>
    private let mostEngines: Int

    /// - Parameter engines: the most threads; up to three are worth having (docs/architecture.md). One is started now,
    ///   the others when there is something for them to do.
    package init(
        engines: Int = CurlTransport.standardEngines, environment: [String: String]
    ) throws(DownloadError) {
        try Self.load()
        guard dlm_curl_global_init() == CURLE_OK else { throw .unexpected("libcurl cannot be initialised") }
        Self.raiseDescriptorLimit()
        mostEngines = max(1, engines)
        shared = SharedState(
            authorities: CertificateAuthorities(environment: environment), logins: LoginFiles(environment: environment))
        self.engines = Mutex(Engines(loops: [try CurlLoop(name: "dlm-engine-0", shared: shared)]))
    }

    static func load() throws(DownloadError) {
        if let reason = dlm_curl_load() {
            throw .unexpected("libcurl cannot be loaded: \(String(cString: reason)); install it (Debian: libcurl4)")
        }
    }

    /// Begins to load libcurl while something else is done: it takes as long as a short transfer.
    package static func prepare() { dlm_curl_prepare() }

    /// A core is left to the threads that write, and to the server when it is near.
    package static let standardEngines = max(1, min(3, ProcessInfo.processInfo.activeProcessorCount - 1))

    package func start(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        let origin = request.url.origin
        // libcurl would copy a file of this machine in one go, and nothing else meanwhile.
        if request.url.known == .file { return Unmoved(request, sink) }
        if !request.url.isHTTP { return startAside(request, sink: sink) }
        let (number, loop) = engine(for: request, to: origin)
        let transfer = CurlTransfer(request: request, origin: origin, sink: sink, loop: loop, engine: number)
        loop.send(.start(transfer))
        return transfer
    }

    /// At the end of a transfer libcurl waits for what an FTP server says, and for the end of an SSH session, and its
    /// thread does nothing else meanwhile.
    private func startAside(_ request: TransferRequest, sink: any TransferSink) -> any Transfer {
        let loop = engines.withLock { engines in
            if engines.side == nil, !engines.isClosed {
                engines.side = try? CurlLoop(name: "dlm-engine-side", shared: shared)
            }
            // What there is must do.
            return engines.side ?? engines.loops[0]
        }
        let transfer = CurlTransfer(request: request, origin: request.url.origin, sink: sink, loop: loop, engine: nil)
        loop.send(.start(transfer))
        return transfer
    }

    /// What may be a small file is spread over two: a third only costs. Parts of large ones go to all.
    private func engine(for request: TransferRequest, to origin: String) -> (Int, CurlLoop) {
        let isPart = request.range.map { $0 != "0-" } ?? false
        return engines.withLock { engines in
            var most = min(mostEngines, isPart ? 3 : 2)
            if engines.isClosed { most = engines.loops.count }
            var number = shared.roster.withLock { $0.choose(origin, limit: most) }
            if number == engines.loops.count {
                do throws(DownloadError) {
                    engines.loops.append(try CurlLoop(name: "dlm-engine-\(number)", shared: shared))
                } catch {
                    // What there is must do.
                    number = shared.roster.withLock { roster in
                        roster.dropLast()
                        return roster.choose(origin, limit: engines.loops.count)
                    }
                }
            }
            return (number, engines.loops[number])
        }
    }

    package func allowance(under limits: [RateLimit]) -> any RateAllowance { LimitedCopy(shared, limits) }

    package func leave(_ usable: Set<String>) {
        for loop in engines.withLock({ $0.all }) { loop.send(.leave(usable)) }
    }

    package func shutdown() {
        let loops = engines.withLock { engines in
            engines.isClosed = true
            return engines.all
        }
        for loop in loops { loop.send(.shutdown) }
        for loop in loops { loop.join() }
    }

    /// Every transfer needs a socket, every file a descriptor.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// A transfer that is none.
private final class Unmoved: Transfer {
    init(_ request: TransferRequest, _ sink: any TransferSink) {
        let error = DownloadError.requestInvalid(.notForScheme(request.url.string, what: "give its path"))
        sink.transferDidFinish(TransferResult(.failed(error)))
    }

    func cancel() {}
    func resume() {}
}

/// Which certificate authorities to trust: what the variables say that curl and OpenSSL know, else the system's.
struct CertificateAuthorities: Sendable {
    let file: String?
    /// One of files named by hashes, searched besides. It costs each connection some 40 ms, so nobody gets it unasked.
    let folder: String?
    /// The variable that says so; nil for the system's, or libcurl's own.
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
