/// How the bytes of one source come to those of another that are here. Until that is proved, nothing that it brings
/// counts as received: another source may have to go on from what there was.
final class SourceJoint {
    enum Way {
        /// A digest, or the user, says what is right: the end of what is here is compared.
        case trusted
        /// The same strong ETag is asked for (RFC 6249 section 5), with the same size.
        case tagged
        /// Nothing says that both have the same file: all that is here comes again, and is compared.
        case compared
    }

    var way: Way
    /// What was here before.
    let before: ByteRanges
    /// Where the comparison ends, once its answer has come.
    var end = Int64.max
    /// Of the source that is asked.
    var validators = Validators()
    /// Its first transfer.
    var scout: SegmentWriter?
    /// How far it had come when the disk was last asked to note that, and how far the disk has.
    private var asked: Int64?
    private(set) var reached: Int64 = 0

    init(_ way: Way, before: ByteRanges) {
        self.way = way
        self.before = before
    }

    /// The disk is about to be asked.
    /// - Parameter segments: those that run.
    func ask(_ segments: [SegmentWriter]) {
        guard asked == nil else { return }
        let writers = way == .compared ? segments : []
        asked = (writers + [scout].compactMap(\.self)).map(\.position).max()
    }

    /// The disk has compared what it was asked for.
    func noteCompared() {
        reached = max(reached, asked ?? 0)
        asked = nil
    }
}
