#if DEBUG || DLM_FAULT_POINTS
    import Foundation
    import Synchronization

    /// Named moments of a download at which a test ends or stops this process. They exist only in builds for tests.
    ///
    /// `$DLM_FAULT_POINT` is `name[:count[:action]]`. The action happens when the process passes the point for the
    /// `count`-th time (default: 1). The action is `kill` (SIGKILL, the default), `stop` (SIGSTOP, until SIGCONT), or
    /// `stops` (SIGSTOP at this passage and at each later one).
    package enum FaultPoint {
        private struct Plan: Sendable {
            let name: String
            let count: Int
            let signal: Int32
            let isRepeated: Bool

            init?(_ text: String?) {
                guard let words = text?.split(separator: ":"), let first = words.first else { return nil }
                name = String(first)
                count = words.count > 1 ? Int(words[1]) ?? 1 : 1
                let action = words.count > 2 ? words[2] : "kill"
                signal = action == "kill" ? SIGKILL : SIGSTOP
                isRepeated = action == "stops"
            }
        }

        private static let plan = Plan(ProcessInfo.processInfo.environment["DLM_FAULT_POINT"])
        private static let passed = Atomic(0)

        /// Takes the planned action if the process has reached the point of this name. Called on any thread.
        package static func reached(_ name: StaticString) {
            guard let plan, plan.name == "\(name)" else { return }
            let number = passed.add(1, ordering: .relaxed).newValue
            if number == plan.count || plan.isRepeated && number > plan.count { raise(plan.signal) }
        }

        /// Returns a limit, which tests can lower through an environment variable.
        package static func limit<Value: LosslessStringConvertible>(_ variable: String, _ normal: Value) -> Value {
            ProcessInfo.processInfo.environment[variable].flatMap(Value.init) ?? normal
        }
    }
#else
    /// A replacement that does nothing. Only builds for tests can be stopped at a point.
    package enum FaultPoint {
        @inlinable @inline(__always) package static func reached(_ name: StaticString) {}

        @inlinable @inline(__always)
        package static func limit<Value>(_ variable: StaticString, _ normal: Value) -> Value { normal }
    }
#endif
