import DownloadTestSupport
import Foundation
import Testing

/// A sandbox on a simulated disk that can lose what was not synced. `dlm` runs with the library of Tests/CPowerLoss,
/// which records the synced bytes and names. ``cut(_:wereNamed:using:)`` restores the disk to the state that a loss of
/// power would have left.
struct PowerCut: Sendable {
    /// What happens to everything that was not synced.
    enum Loss: String, CaseIterable, Sendable {
        /// Everything is lost, including names.
        case strict
        /// Nothing is lost. Only the identifier of the boot changes.
        case lazy
        /// Each name, each size and each page of 4 KiB is kept or lost by chance. Pages can be lost in part.
        case mixed
    }

    let sandbox: DlmSandbox
    /// The folder of the library's records. It is on the disk of the sandbox, because files have hard links in both
    /// folders.
    private let shadow: TemporaryFolder

    init(_ sandbox: DlmSandbox) throws {
        self.sandbox = sandbox
        shadow = try TemporaryFolder()
        for kind in ["data", "live", "dirs", "late"] { try shadow.makeFolder(kind) }
        try settle()
        try boot()
    }

    /// Makes the next sync of a partial file fail and lose the bytes since the sync before.
    func failNextSync() throws { try shadow.write("", to: "fail") }

    /// Whether a sync has failed since ``failNextSync()``.
    var hasFailed: Bool { !shadow.exists("fail") }

    /// Sets the environment of a process on this disk.
    func prepare(_ launch: inout ProcessLaunch) throws {
        launch.environment["LD_PRELOAD"] =
            (try DlmSandbox.binary as NSString).deletingLastPathComponent + "/libPowerLoss.so"
        launch.environment["DLM_POWER_ROOT"] = sandbox.root.path
        launch.environment["DLM_POWER_SHADOW"] = shadow.path
        launch.environment["DLM_POWER_BOOT"] = shadow("boot")
        launch.environment["DLM_POWER_FAIL"] = shadow("fail")
        // Normally dlm syncs every 5 seconds if at least 64 MiB are unsynced, otherwise twice a minute. Here dlm syncs
        // at every checkpoint.
        launch.environment["DLM_FAULT_SYNC_BYTES"] = "1"
        launch.environment["DLM_FAULT_SYNC_SECONDS"] = "0"
    }

    func start(
        _ arguments: [String], with change: (inout ProcessLaunch) -> Void = { _ in }
    ) throws -> ChildProcess {
        var launch = try sandbox.launch(arguments)
        try prepare(&launch)
        change(&launch)
        return try ChildProcess(launch)
    }

    func run(
        _ arguments: String..., with change: (inout ProcessLaunch) -> Void = { _ in }
    ) async throws -> ChildProcess.Result {
        try await start(arguments, with: change).result()
    }

    // MARK: The cut

    /// The paths below the sandbox's root, and the inodes of the files there.
    private typealias Names = [String: UInt64]

    /// Restores the disk to the state after a loss of power, and changes the identifier of the boot. No process may run
    /// in the sandbox.
    /// - Parameter wereNamed: whether files had a partial name before their final name.
    func cut(_ loss: Loss, wereNamed: Bool = true, using random: inout SeededGenerator) throws {
        let live = try liveFiles()
        for (path, inode) in live where !shadow.exists("live/\(inode)") {
            try FileManager.default.linkItem(atPath: sandbox.root(path), toPath: shadow("live/\(inode)"))
        }
        let durable = durableNames()
        let left: Names =
            switch loss {
            case .strict: durable.files
            case .lazy: live
            case .mixed: Self.mixture(of: live, durable.files, wereNamed, using: &random)
            }
        for (path, inode) in live where left[path] != inode {
            try FileManager.default.removeItem(atPath: sandbox.root(path))
        }
        if loss == .strict { try removeFolders(except: durable.folders) }
        for (path, inode) in left.sorted(by: { $0.key < $1.key }) {
            if live[path] != inode {
                try FileManager.default.linkItem(atPath: shadow("live/\(inode)"), toPath: sandbox.root(path))
            }
            if loss != .lazy { try rewrite(inode, loss, using: &random) }
        }
        try settle()
        try boot()
    }

    /// Treats everything that exists now as synced.
    func settle() throws {
        let manager = FileManager.default
        for kind in ["data", "live", "dirs", "late"] {
            for name in shadow.names(in: kind) { try manager.removeItem(atPath: shadow("\(kind)/\(name)")) }
        }
        for folder in try [""] + subpaths().filter({ try isFolder($0) }) {
            var lines = ""
            for name in sandbox.root.names(in: folder) {
                let path = folder.isEmpty ? name : folder + "/" + name
                let inode = try inode(path)
                let type = try manager.attributesOfItem(atPath: sandbox.root(path))[.type] as? FileAttributeType
                if type == .typeDirectory { lines += "d \(inode) \(name)\n" }
                if type == .typeRegular {
                    lines += "f \(inode) \(name)\n"
                    try manager.copyItem(atPath: sandbox.root(path), toPath: shadow("data/\(inode)"))
                    try manager.linkItem(atPath: sandbox.root(path), toPath: shadow("live/\(inode)"))
                }
            }
            try shadow.write(lines, to: "dirs/\(try inode(folder))")
        }
    }

    private func boot() throws { try shadow.write(UUID().uuidString.lowercased() + "\n", to: "boot") }

    // MARK: Names

    private func subpaths() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: sandbox.root.path).sorted()
    }

    private func isFolder(_ path: String) throws -> Bool {
        try FileManager.default.attributesOfItem(atPath: sandbox.root(path))[.type] as? FileAttributeType
            == .typeDirectory
    }

    private func inode(_ path: String) throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: sandbox.root(path))
        return try #require(
            attributes[.systemFileNumber] as? UInt64 ?? (attributes[.systemFileNumber] as? Int).map { UInt64($0) })
    }

    private func liveFiles() throws -> Names {
        var names: Names = [:]
        for path in try subpaths() {
            let type = try FileManager.default.attributesOfItem(atPath: sandbox.root(path))[.type] as? FileAttributeType
            if type == .typeRegular { names[path] = try inode(path) }
        }
        return names
    }

    private func durableNames() -> (files: Names, folders: Set<String>) {
        var files: Names = [:]
        var folders: Set<String> = []
        func walk(_ folder: String, _ inode: UInt64) {
            for line in (try? shadow.read("dirs/\(inode)"))?.split(separator: "\n") ?? [] {
                let words = line.split(separator: " ", maxSplits: 2)
                guard words.count == 3, let inode = UInt64(words[1]) else { continue }
                let path = folder.isEmpty ? String(words[2]) : folder + "/" + words[2]
                if words[0] == "f" {
                    files[path] = inode
                } else {
                    folders.insert(path)
                    walk(path, inode)
                }
            }
        }
        if let root = try? inode("") { walk("", root) }
        return (files, folders)
    }

    private func removeFolders(except durable: Set<String>) throws {
        for path in try subpaths() where sandbox.root.exists(path) {
            if try isFolder(path), !durable.contains(path) {
                try FileManager.default.removeItem(atPath: sandbox.root(path))
            }
        }
    }

    /// Returns a random mixture of both sets of names. Names that one rename changes together are lost or kept
    /// together.
    private static func mixture(
        of live: Names, _ durable: Names, _ wereNamed: Bool, using random: inout SeededGenerator
    ) -> Names {
        var left: Names = [:]
        var groups: [(paths: Set<String>, inodes: Set<UInt64>)] = []
        for path in Set(live.keys).union(durable.keys).sorted() {
            var group = (paths: Set([path]), inodes: Set([live[path], durable[path]].compactMap { $0 }))
            for other in groups where !other.inodes.isDisjoint(with: group.inodes) {
                group.paths.formUnion(other.paths)
                group.inodes.formUnion(other.inodes)
            }
            groups.removeAll { !$0.paths.isDisjoint(with: group.paths) }
            groups.append(group)
        }
        for group in groups {
            var names = Bool.random(using: &random) ? live : durable
            // The creation of this file was kept, and its rename was lost.
            if wereNamed, let only = group.paths.first, group.paths.count == 1, durable[only] == nil,
                !only.hasSuffix(".part"),
                !only.contains("sqlite"), Bool.random(using: &random)
            {
                left[only + ".part"] = live[only]
                names = durable
            }
            for path in group.paths { if let inode = names[path] { left[path] = inode } }
        }
        return left
    }

    // MARK: Bytes

    private static let page = 4096

    /// Overwrites a file in place with the bytes that the loss of power leaves.
    private func rewrite(_ inode: UInt64, _ loss: Loss, using random: inout SeededGenerator) throws {
        let now = try Data(contentsOf: URL(fileURLWithPath: shadow("live/\(inode)")))
        let synced = (try? Data(contentsOf: URL(fileURLWithPath: shadow("data/\(inode)")))) ?? Data()
        if now == synced { return }
        let left = loss == .strict ? synced : Self.mixture(of: now, synced, using: &random)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: shadow("live/\(inode)")))
        try file.write(contentsOf: left)
        try file.truncate(atOffset: UInt64(left.count))
        try file.close()
    }

    private static func mixture(of now: Data, _ synced: Data, using random: inout SeededGenerator) -> Data {
        let sizes = min(now.count, synced.count)...max(now.count, synced.count)
        let choice = [now.count, synced.count, .random(in: sizes, using: &random)]
        let size = choice.randomElement(using: &random) ?? now.count
        var left = synced.prefix(size) + Data(count: max(0, size - synced.count))
        for start in stride(from: 0, to: min(size, now.count), by: page) {
            var end = min(start + page, size, now.count)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4: continue
            case 4: end = min(end, start + 512 * Int.random(in: 0...8, using: &random))
            default: break
            }
            if start < end { left.replaceSubrange(start..<end, with: now[start..<end]) }
        }
        return left
    }
}

/// Runs a test on the simulated disk of a ``PowerCut``. Unless `isNew` is true, the store exists already.
func withPowerCut(
    serving reply: FaultReply, isNew: Bool = false, _ body: (PowerCut, FaultServer) async throws -> Void
) async throws {
    try await withDlm(serving: reply) { sandbox, server in
        if !isNew { _ = try await sandbox.list() }
        let power = try PowerCut(sandbox)
        try await body(power, server)
    }
}
