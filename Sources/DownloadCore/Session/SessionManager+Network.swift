import Foundation

/// What becomes of downloads when this machine's network goes, comes back or changes.
extension SessionManager {
    /// So many looks at the clock between two at the kernel's tables for want of an event.
    private static let ticksBetweenQuestions = 10

    /// Called twice a second; with nothing to do and no news it costs one system call.
    func watchNetwork(tick: Int) {
        let network = parts.network
        let slept = sleep.hasSlept(network.timeAsleep())
        let waiting = entries.values.filter { $0.record.state.waitsForNetwork }
        guard slept || !waiting.isEmpty || entries.values.contains(where: { $0.record.state == .running }) else {
            return
        }
        let isNews = network.hasChanged() || slept
        if isNews, let usable = network.usableAddresses() { context?.transport.leave(slept ? [] : usable) }
        if waiting.isEmpty || !isNews && tick % Self.ticksBetweenQuestions != 0 { return }
        var known: [NetworkPath: Bool] = [:]
        for entry in waiting {
            let path = NetworkPath(entry.record)
            let isDown = known[path] ?? NetworkOutage.isDown(path, network)
            known[path] = isDown
            if !isDown { entry.task?.cancel() }
        }
    }
}
