import ArgumentParser
import DownloadKit

/// The handover of the downloads of `get -b` to the background session, or to a shared queue.
protocol Handover {
    var console: Console { get }
    var statuses: Set<Int32> { get }

    /// Hands over `first`, and then the parts that `next` returns. A nil from `next` is the end of the list.
    mutating func add(
        _ first: RequestMaker.Part, next: @escaping @Sendable () async throws -> RequestMaker.Part?
    ) async throws
}

/// The handover of downloads to the background session, part by part, so that a list of any length needs only the
/// memory of a few parts. While the session records a part, the next part is prepared.
struct BackgroundHandover: Handover {
    private struct Part: Sendable {
        let requests: RequestList
        let rejected: [RejectedDocument]
        /// Nil if there are no requests, or if they could not be prepared.
        let addition: PreparedAddition?
    }

    private let background: Background
    let console: Console
    private let options: OutputOptions
    private let proxies: CarriedProxies
    private(set) var statuses: Set<Int32> = []

    init(_ router: any SessionRouting, _ context: Context, _ options: OutputOptions) throws {
        proxies = try CarriedProxies(context.environment)
        background = Background(router)
        (console, self.options) = (context.console, options)
    }

    mutating func add(
        _ first: RequestMaker.Part, next: @escaping @Sendable () async throws -> RequestMaker.Part?
    ) async throws {
        let prepare = { @Sendable [proxies, background] (part: RequestMaker.Part?) async -> Part? in
            guard let part else { return nil }
            let requests = proxies.applied(to: part.requests)
            // An error is reported when the part is recorded, which tries again.
            let addition = requests.isEmpty ? nil : try? await background.prepare(requests)
            return Part(requests: requests, rejected: part.rejected, addition: addition)
        }
        var coming = Task<Part?, any Error> { await prepare(first) }
        // Prints what became of the last part, and returns its exit statuses.
        var telling = Task<Set<Int32>, any Error> { [] }
        do {
            while let part = try await coming.value {
                coming = Task { await prepare(try await next()) }
                let recording = Task { [background] in try await background.record(part.requests, part.addition) }
                statuses.formUnion(try await telling.value)
                let answer = await recording.result
                telling = Task { [self] in try tell(part, try? answer.get()) }
                _ = try answer.get()
            }
        } catch {
            statuses.formUnion(try await telling.value)
            throw error
        }
        statuses.formUnion(try await telling.value)
    }

    /// - Parameter answer: The answer of the session; nil if nothing was added.
    /// - Returns: The exit statuses of the inputs that did not become downloads.
    private func tell(_ part: Part, _ answer: PreparedAddition.Answer?) throws -> Set<Int32> {
        var rejected = part.rejected
        for document in rejected { document.tell(console, options) }
        let (requests, added) = (part.requests, try answer?() ?? [])
        let tellsEach = options.json || options.verbose > 0 && !options.quiet
        var ids: [DownloadID] = []
        ids.reserveCapacity(added.count)
        for index in added.indices {
            if added[index].kind == .joined, requests[index].asksForMore(than: added[index].record.request) {
                // This command does not wait for the end of the download, so it cannot verify the file.
                let id = added[index].id
                let why =
                    "\(id): this file is already being downloaded without this checksum; run: dlm wait \(id), and then "
                    + "dlm verify"
                let document = RejectedDocument(.verificationFailed(.unverifiable(why)))
                document.tell(console, options)
                rejected.append(document)
            } else {
                ids.append(added[index].id)
                if added[index].kind == .joined,
                    let notice = StandingText.otherHooks(requests[index], added[index].record)
                {
                    console.report(notice)
                }
                if tellsEach { tell(added[index]) }
            }
        }
        if !options.json, !options.quiet, !ids.isEmpty { console.print(ids.map { "\($0)" }.joined(separator: "\n")) }
        return Set(rejected.map(\.exitStatus))
    }

    /// Reports one added download, as JSON or with `-v`. Plain ids are printed many at a time.
    private func tell(_ download: AddedDownload) {
        let snapshot = DownloadSnapshot(record: download.record)
        let verb = download.kind == .joined ? "joined" : "added"
        if options.json { console.print(EventDocument(verb, snapshot).json) }
        guard options.verbose > 0, !options.quiet else { return }
        console.report("\(snapshot.id): \(snapshot.record.displayName): \(verb): \(download.record.request.url)")
    }
}

/// The background session, which is looked up only once for all parts of a list.
private actor Background {
    private let router: any SessionRouting
    private var session: (any DownloadService)?

    init(_ router: any SessionRouting) { self.router = router }

    func prepare(_ requests: RequestList) async throws -> PreparedAddition {
        try await found().prepareAddition(of: requests)
    }

    /// Adds the requests to the background session, or to a new one if that session is just ending.
    /// - Returns: The answer; nil if there are no requests.
    func record(
        _ requests: RequestList, _ prepared: PreparedAddition?
    ) async throws -> PreparedAddition.Answer? {
        if requests.isEmpty { return nil }
        var prepared = prepared
        for _ in 1..<Self.attempts {
            do {
                let addition = if let prepared { prepared } else { try await prepare(requests) }
                return try await addition.add()
            } catch DownloadError.sessionUnavailable(let failure) where failure.isEnd {
                session = nil
                prepared = nil
            }
        }
        return try await prepare(requests).add()
    }

    private func found() async throws -> any DownloadService {
        if let session { return session }
        let found = try await router.background()
        session = found
        return found
    }

    private static let attempts = 5
}

/// The proxies of a command's environment, which are copied into downloads of the background session. So the session
/// uses them instead of those in its own environment.
struct CarriedProxies: Sendable {
    private let addresses: [String: ProxyAddress]
    private let exceptions: String?

    init(_ environment: [String: String]) throws {
        let proxies = ProxyEnvironment(environment)
        var addresses: [String: ProxyAddress] = [:]
        for scheme in SourceScheme.names {
            guard let named = proxies.proxy(scheme: scheme) else { continue }
            do throws(ProxyAddress.ParseError) { addresses[scheme] = try ProxyAddress.parse(named.value) } catch {
                // The text may contain a password, so the message does not repeat the text.
                throw ValidationError("\(named.variable): \(error.words); correct it, or give --proxy")
            }
        }
        self.addresses = addresses
        exceptions = proxies.exceptions?.value
    }

    func applied(to requests: RequestList) -> RequestList {
        if addresses.isEmpty { return requests }
        return RequestList(requests.lazy.map(applied))
    }

    private func applied(to request: DownloadRequest) -> DownloadRequest {
        guard request.network.proxy == nil, let address = addresses[request.url.scheme] else { return request }
        var request = request
        request.network.proxy = address
        request.network.noProxy = request.network.noProxy ?? exceptions
        return request
    }
}
