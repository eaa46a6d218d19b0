/// The target of a segment's bytes: a partial file or a stream.
package protocol SegmentTarget: AnyObject, Sendable {
    /// Whether the target takes no more writes.
    var refusesWrites: Bool { get }
    /// Writes the bytes that are new, and compares the others with those already written. Called on the writer's thread,
    /// in order.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64)
}
