/// What one session grants its clients: everything that comes in is bounded in size, number and time.
package struct ControlLimits: Sendable {
    /// Bytes of the request line and header section.
    package var headSize = 64 << 10
    /// Bytes of a request's body: the digests of the pieces of a large file must fit.
    package var bodySize = 10 << 20
    /// Connections at once; further ones wait to be accepted.
    package var connections = 64
    /// Event streams at once: some connections stay free for commands.
    package var streams = 48
    /// From the first byte of a request to its last.
    package var request = Duration.seconds(10)
    /// A connection between two requests.
    package var idle = Duration.seconds(60)
    /// For a client to read why it was refused, while it may still be writing.
    package var linger = Duration.seconds(1)
    /// One piece of an answer, at most 64 KiB, that the client does not take.
    package var write = Duration.seconds(30)
    /// For an answer that needs no disk.
    package var answer = Duration.seconds(30)
    /// For an answer that waits until resume data is on disk.
    package var diskAnswer = Duration.seconds(60)
    /// Between two signs of life on an event stream where nothing happens.
    package var heartbeat = Duration.seconds(15)
    /// What a server that stops gives to answers on their way.
    package var farewell = Duration.milliseconds(500)
    /// Downloads in one answer.
    package var rows = 10_000

    package init() {}
}
