import DownloadKit

/// The times of an attempt's first transfer, in seconds from its start.
struct TimingsDocument: Encodable, Equatable, Sendable {
    let nameLookup: Double
    let connect: Double
    let tls: Double
    let firstByte: Double
    let total: Double
    let reusedConnection: Bool

    init(_ metrics: TransferMetrics) {
        nameLookup = metrics.nameLookup
        connect = metrics.connect
        tls = metrics.tls
        firstByte = metrics.firstByte
        total = metrics.total
        reusedConnection = metrics.reusedConnection
    }
}
