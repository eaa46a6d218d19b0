import DownloadCore

/// The check that a source has the same file as the source of the bytes on disk. Before the check has passed, no byte
/// of the new source is recorded. Otherwise another source could not continue from the bytes that were on disk before.
final class SourceOverlapCheck {
    enum Way {
        /// The complete file is compared with a digest, or the user accepts an unverified file. Only the last bytes on
        /// disk are compared.
        case trusted
        /// The new source must have the same strong ETag (RFC 6249 section 5) and the same size.
        case tagged
        /// Nothing shows that both sources have the same file. All bytes on disk are fetched again and compared.
        case compared
    }

    var way: Way
    /// The ranges that were in the partial file before.
    let before: ByteRanges
    /// The offset at which the comparison ends. It is known when the answer has come.
    var end = Int64.max
    /// The validators of the source that is used now.
    var validators = Validators()
    /// The first transfer from the source.
    var probe: SegmentWriter?
    /// The position of the source when the disk was last asked to report; nil if no report is expected.
    private var asked: Int64?
    /// The offset up to which the disk has compared the bytes of the source.
    private(set) var reached: Int64 = 0

    init(_ way: Way, before: ByteRanges) {
        self.way = way
        self.before = before
    }

    /// Records the position of the source when the disk is asked to report.
    func ask(_ segments: [SegmentWriter]) {
        guard asked == nil else { return }
        let writers = way == .compared ? segments : []
        asked = (writers + [probe].compactMap(\.self)).map(\.position).max()
    }

    /// Records that the disk has compared everything up to the position that it was asked about.
    func recordCompared() {
        reached = max(reached, asked ?? 0)
        asked = nil
    }
}
