import CSystem
import Foundation
import Synchronization

/// The compressor of one answer (`Content-Encoding: gzip`).
final class Gzip: Sendable {
    private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let handle: Mutex<Handle>

    /// Returns nil if zlib cannot be loaded.
    init?() {
        guard let pointer = dlm_gzip_new() else { return nil }
        handle = Mutex(Handle(pointer: pointer))
    }

    deinit { handle.withLock { dlm_gzip_free($0.pointer) } }

    /// Returns the compressed bytes that are ready. With `isEnd`, all that are left.
    func compressed(_ bytes: Data, isEnd: Bool = false) -> Data {
        handle.withLock { handle in
            var (result, piece) = (Data(), [UInt8](repeating: 0, count: 32 << 10))
            bytes.withUnsafeBytes { bytes in
                dlm_gzip_give(handle.pointer, bytes.baseAddress, bytes.count)
                while true {
                    let count = dlm_gzip_take(handle.pointer, &piece, piece.count, isEnd ? 1 : 0)
                    result.append(contentsOf: piece[..<count])
                    if count < piece.count { return }
                }
            }
            return result
        }
    }
}
