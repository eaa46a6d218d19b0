/// Where the bytes of a segment go: a partial file, or a stream.
package protocol SegmentTarget: AnyObject, Sendable {
    /// Nothing is written any more.
    var refusesWrites: Bool { get }
    /// Writes what is new, and compares the rest with what is there. Called on the writer's thread, in order.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64)
}

extension PartialFile: SegmentTarget {}
