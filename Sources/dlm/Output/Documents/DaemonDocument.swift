import DownloadKit
import Foundation

/// The document of `dlm daemon status`.
struct DaemonDocument: Document, Equatable {
    var version = 1
    let identifier: String
    let pid: Int32?
    let socket: String
    let program: String?
    let started: Date?
    let running: Int
    let waiting: Int
    let queued: Int?
    let maxConcurrent: Int?
    let maxPerHost: Int?
    let rateLimit: Int64?
    let isFinishing: Bool

    init(_ status: SessionStatus? = nil, socket: String) {
        identifier = status?.identifier ?? SessionIdentifier.background
        pid = status?.pid
        self.socket = socket
        program = status?.version
        started = status?.started
        running = status?.running ?? 0
        waiting = status?.waiting ?? 0
        queued = status?.queued
        maxConcurrent = status?.settings.maxConcurrent
        maxPerHost = status?.settings.maxPerHost
        rateLimit = status?.settings.rateLimit.flatMap { $0 > 0 ? $0 : nil }
        isFinishing = status?.isFinishing ?? false
    }
}
