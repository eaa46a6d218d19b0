import Foundation

/// True where `DLM_TEST_PROMISES` is set and no sanitizer is on: tests hold dlm to exactly what it promises.
package let holdsToPromises = ProcessInfo.processInfo.environment["DLM_TEST_PROMISES"] != nil && !Sanitizer.isOn

/// How long a test lets something take that is promised within `limit`: several times as long, for on a busy machine a process
/// may stand still for seconds; exactly as long where ``holdsToPromises``.
package func promised(within limit: Duration) -> Duration {
    holdsToPromises ? limit : max(limit * 5, .seconds(30))
}

/// How many bytes a test lets come twice of which at most `count` are promised, over so many connections at a time. While a
/// process stands still on a busy machine, the kernel takes up to a mebibyte of a throttled reply for each connection, which
/// nobody has read when the process is ended. Exactly `count` where ``holdsToPromises``.
package func promised(atMost count: Int64, connections: Int = 1) -> Int64 {
    holdsToPromises ? count : count + Int64(connections) << 20
}
