import Foundation

/// True if `DLM_TEST_PROMISES` is set and no sanitizer is on. Then tests require exactly the limits that dlm promises.
package let holdsToPromises = ProcessInfo.processInfo.environment["DLM_TEST_PROMISES"] != nil && !Sanitizer.isOn

/// Returns how long an operation may take in a test if it is promised within `limit`. This is exactly `limit` if
/// ``holdsToPromises``. Otherwise it is several times as long, because a process on a busy machine may stand still for
/// seconds.
package func promised(within limit: Duration) -> Duration {
    holdsToPromises ? limit : max(limit * 5, .seconds(30))
}

/// Returns how many bytes may be received twice in a test if at most `count` are promised. This is exactly `count` if
/// ``holdsToPromises``. Otherwise it is more for each of the concurrent connections. While a process stands still on a
/// busy machine, the kernel takes up to a mebibyte of a throttled reply for each connection. Nobody has read these
/// bytes when the process is ended.
package func promised(atMost count: Int64, connections: Int = 1) -> Int64 {
    holdsToPromises ? count : count + Int64(connections) << 20
}
