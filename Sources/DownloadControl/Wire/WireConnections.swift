import DownloadCore

/// The number of connections for a file, as two fields: a number, and a limit that applies if the number is 0. A
/// program that does not know the field for the limit uses its own limit.
enum WireConnections {
    static func number(_ connections: Int?, limit: Int?) throws(WireProblem) -> Int? {
        let number = try connections.within(DownloadRequest.possibleConnections, "connections")
        let limit = try limit.within(DownloadRequest.possibleConnectionLimits, "connectionLimit")
        if number == nil, limit == nil { return nil }
        return DownloadRequest.connections(number ?? DownloadRequest.automaticConnections, limit: limit)
    }
}
