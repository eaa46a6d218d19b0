import DownloadCore

extension TransferMetrics {
    /// Writes the elements of the column `metrics`, which has no names (``StoredMetrics``).
    func writeElements(to json: inout JSONWriter) {
        json.element(remoteAddress)
        json.element(remotePort)
        json.element(httpVersion)
        json.element(status)
        json.element(reusedConnection)
        for time in [nameLookup, connect, tls, firstByte, total] { json.element(time) }
        json.element(received)
    }
}

/// The metrics in the column `metrics`.
struct StoredMetrics: Decodable {
    private(set) var metrics = TransferMetrics()

    init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        metrics.remoteAddress = try elements.decode(String?.self)
        metrics.remotePort = try elements.decode(Int?.self)
        metrics.httpVersion = try elements.decode(String?.self)
        metrics.status = try elements.decode(Int?.self)
        metrics.reusedConnection = try elements.decode(Bool.self)
        metrics.nameLookup = try elements.decode(Double.self)
        metrics.connect = try elements.decode(Double.self)
        metrics.tls = try elements.decode(Double.self)
        metrics.firstByte = try elements.decode(Double.self)
        metrics.total = try elements.decode(Double.self)
        metrics.received = try elements.decode(Int64.self)
    }
}
