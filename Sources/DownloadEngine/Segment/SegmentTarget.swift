/// The target of a segment's bytes: a partial file or a stream.
package protocol SegmentTarget: AnyObject, Sendable {
    /// Whether the target takes no more writes.
    var refusesWrites: Bool { get }
    /// The offset up to which the target takes bytes now. A transfer pauses there until it is resumed.
    var limit: Int64 { get }
    /// Writes the bytes that are new, and compares the other bytes with the bytes already written. Called on the thread
    /// of the write queue, in order.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64)
}

extension SegmentTarget {
    package var limit: Int64 { .max }
}
