import NIOCore

/// The connections of one server, on its event loop.
final class ConnectionTable {
    let limits: ControlLimits
    /// Answers a request that has arrived whole.
    let answer: ConnectionServer.Answer
    let gate: EventLoopGate
    private let eventLoop: any EventLoop
    private var connections: [ObjectIdentifier: ConnectionHandler] = [:]
    /// The number of accepted connections that are not closed, including those that are being set up.
    private var count = 0
    private var whenEmpty: EventLoopPromise<Void>?
    /// Accepts connections that had to wait because the table was full.
    var whenRoom: (() -> Void)?

    init(answer: @escaping ConnectionServer.Answer, limits: ControlLimits, eventLoop: any EventLoop) {
        self.answer = answer
        self.limits = limits
        self.eventLoop = eventLoop
        gate = EventLoopGate(eventLoop)
    }

    var isFull: Bool { count >= limits.connections }

    func admit(_ channel: any Channel) {
        count += 1
        channel.closeFuture.assumeIsolated().whenComplete { _ in
            self.count -= 1
            self.whenRoom?()
        }
    }

    func add(_ connection: ConnectionHandler) { connections[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: ConnectionHandler) {
        connections[ObjectIdentifier(connection)] = nil
        if connections.isEmpty { whenEmpty?.succeed() }
    }

    /// Makes room for a waiting client: closes the connection that has been waiting for its client for longest, if it
    /// has been waiting for a second. A client with many connections loses one of them first.
    func closeWaitingOne() {
        let second = NIODeadline.now() - .seconds(1)
        let waiting = connections.values.compactMap { one in one.waitsSince.map { (one, $0) } }.filter { $0.1 < second }
        let counts = Dictionary(grouping: waiting) { $0.0.peer }.mapValues(\.count)
        let most = counts.values.max()
        waiting.filter { counts[$0.0.peer] == most }.min { $0.1 < $1.1 }?.0.close()
    }

    /// Closes idle connections at once, and each other connection after its answer. The future completes when all are
    /// closed.
    func finish() -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        whenEmpty = promise
        for connection in Array(connections.values) { connection.finish() }
        if connections.isEmpty { promise.succeed() }
        return promise.futureResult
    }

    func closeAll() { for connection in Array(connections.values) { connection.close() } }
}
