import Foundation

/// How long a test lets something take that is promised within `limit`: several times as long, for on a busy machine a process
/// may stand still for seconds; exactly as long where `DLM_TEST_PROMISES` is set and no sanitizer is on.
package func promised(within limit: Duration) -> Duration {
    let isExact = ProcessInfo.processInfo.environment["DLM_TEST_PROMISES"] != nil && !Sanitizer.isOn
    return isExact ? limit : max(limit * 5, .seconds(20))
}
