import DownloadCore
import DownloadSystem

/// The limits of one session for its clients. Everything that comes in is limited in size, number and time.
package struct ControlLimits: Sendable {
    /// The most bytes of the request line and header section.
    package var headSize = 64 << 10
    /// The most bytes of a request's body. A request can carry the digests of all pieces of a large file.
    package var bodySize = 10 << 20
    /// The most connections at once: 64, or fewer if few files may be open. Further connections wait to be accepted.
    package var connections = FreeDescriptors.connections()
    /// A connection is accepted only while there is room for so many descriptors.
    package var descriptors = 1
    /// The most event streams at once, so that some connections stay free for commands.
    package var streams = FreeDescriptors.connections() * 3 / 4
    /// The time from the first byte of a request to its last.
    package var request = Duration.seconds(10)
    /// The time that a connection may be idle between two requests.
    package var idle = Duration.seconds(60)
    /// The time for a client to read why its request was refused, while the client may still be writing.
    package var linger = Duration.seconds(1)
    /// The time for a client to take one piece of a response, at most 64 KiB.
    package var write = Duration.seconds(30)
    /// The time for a response that does not wait until resume data is on disk.
    package var answer = Duration.seconds(30)
    /// The time for a response that waits until resume data is on disk.
    package var diskAnswer = Duration.seconds(60)
    /// The time between two heartbeats on an event stream without events.
    package var heartbeat = Duration.seconds(15)
    /// The time for responses in progress when the server stops.
    package var farewell = Duration.milliseconds(500)
    /// The most downloads in one response.
    package var rows = 10_000

    package init() {}
}
