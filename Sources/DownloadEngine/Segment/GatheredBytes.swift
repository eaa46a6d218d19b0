/// The bytes of a transfer that are gathered in a pool buffer and were not yet handed to the disk. They end before the
/// offset that the methods call `position`.
struct GatheredBytes {
    private(set) var buffer: PoolBuffer?
    private(set) var count = 0
    /// The offset of the first byte of a partly filled buffer whose hand-over to the disk was arranged.
    private var handOver: Int64?

    /// The maximum length of a piece in bytes. A piece that begins a buffer always fits in it.
    static let longestPiece = 64 << 10

    /// The bytes. The pointer is valid until the buffer is taken.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: buffer.map { UnsafeRawPointer($0.bytes) }, count: count)
    }

    mutating func begin(in buffer: PoolBuffer?) {
        self.buffer = buffer
        count = 0
    }

    func room(at position: Int64) -> Int {
        min(buffer?.size ?? 0, Self.capacity(from: position - Int64(count))) - count
    }

    /// Copies as many of the bytes as the buffer takes. Returns their number, and whether the buffer is full.
    mutating func append(_ bytes: UnsafeRawBufferPointer, at position: Int64) -> (count: Int, isFull: Bool) {
        guard let buffer else { return (0, false) }
        let room = room(at: position)
        let part = min(bytes.count, room)
        (buffer.bytes + count).copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: part)
        count += part
        return (part, part == room)
    }

    mutating func take() -> (buffer: PoolBuffer, count: Int)? {
        guard let buffer else { return nil }
        let taken = (buffer, count)
        begin(in: nil)
        return taken
    }

    /// Returns the capacity of a buffer. A buffer ends where the file offset is a multiple of the buffer size. If the
    /// buffer would be shorter than ``longestPiece``, it ends at a multiple of the page size instead.
    private static func capacity(from start: Int64) -> Int {
        let size = BufferPool.bufferSize
        let room = size - Int(start % Int64(size))
        return room >= longestPiece ? room : size - Int(start % 4096)
    }

    // MARK: Handing over a partly filled buffer

    /// Records that a hand-over is arranged, and returns the offset of the first byte. Returns nil if there are no
    /// bytes, or if their hand-over was arranged before.
    mutating func arrangeHandOver(at position: Int64) -> Int64? {
        let start = position - Int64(count)
        if count == 0 || handOver == start { return nil }
        handOver = start
        return start
    }

    mutating func cancelHandOver() { handOver = nil }

    /// Takes the buffer if its bytes begin at `start`. Otherwise returns nil.
    mutating func take(from start: Int64, at position: Int64) -> (buffer: PoolBuffer, count: Int)? {
        count > 0 && position - Int64(count) == start ? take() : nil
    }
}
