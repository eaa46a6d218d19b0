import DownloadCore

/// The running transfers of an attempt, and the data for their requests.
struct Transfers {
    private(set) var running: [SegmentWriter] = []
    /// The transfer of the probe; nil after it was given a file or was ended.
    var probe: SegmentWriter? { didSet { if oldValue !== probe { oldValue?.discard() } } }
    var sources: SourcePool
    /// The secrets from the files that the request names, and the cookies that servers set.
    var secrets = LoadedSecrets()
    /// Whether the transfers share a connection with other downloads if possible. The session sets it for an https URL
    /// when more downloads of the same origin wait. The probe sets it to false if the file is large.
    var prefersMultiplexing: Bool

    /// The connections that have a request.
    var connections: [Int] { running.map(\.connection) }

    mutating func add(_ segment: SegmentWriter) { running.append(segment) }

    mutating func remove(_ segment: SegmentWriter) { running.removeAll { $0 === segment } }
}
