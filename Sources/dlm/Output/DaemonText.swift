import Foundation

/// The text of `dlm daemon status`.
enum DaemonText {
    static func lines(_ document: DaemonDocument, now: Date) -> [String] {
        guard let pid = document.pid else { return ["not running", field("socket", document.socket)] }
        let age = document.started.map { ", for \(Units.duration(now.timeIntervalSince($0)))" } ?? ""
        let counts = "\(document.running) running, \(document.waiting) waiting, \(document.queued ?? 0) queued"
        return [
            document.isFinishing ? "finishing what runs" : "running",
            field("process", "pid \(pid), dlm \(Escaping.line(document.program ?? "?"))\(age)"),
            field("session", Escaping.line(document.identifier)),
            field("socket", document.socket),
            field("downloads", counts),
            field("limits", limits(document)),
        ]
    }

    private static func limits(_ document: DaemonDocument) -> String {
        var parts: [String] = []
        if let limit = document.maxConcurrent { parts.append("\(limit) at a time") }
        if let limit = document.maxPerHost { parts.append("\(limit) from one host") }
        parts.append(document.rateLimit.map { Units.rate(Double($0)) } ?? "any speed")
        return parts.joined(separator: ", ")
    }

    private static func field(_ name: String, _ value: String) -> String {
        "   " + name.padding(toLength: 11, withPad: " ", startingAt: 0) + Escaping.line(value)
    }
}
