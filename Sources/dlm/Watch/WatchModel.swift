import DownloadKit
import Foundation

/// The interactive `dlm watch` without its terminal. The effects of keys are returned as ``Action``s.
struct WatchModel {
    enum Action: Equatable, Sendable {
        case change([DownloadID], DownloadChange)
        case resume([DownloadID])
        case remove([DownloadID])
        /// Reads a download for the page of its details.
        case show(DownloadID)
        case copy(String)
        /// Adds the downloads of these lines, a URL in each.
        case add([String])
        case leave

        /// Returns the action for the other downloads; nil if there are none.
        func without(_ id: DownloadID) -> Action? {
            switch self {
            case .change(let ids, let change) where ids.count > 1: .change(ids.filter { $0 != id }, change)
            case .resume(let ids) where ids.count > 1: .resume(ids.filter { $0 != id })
            case .remove(let ids) where ids.count > 1: .remove(ids.filter { $0 != id })
            case .change, .resume, .remove, .show, .copy, .add, .leave: nil
            }
        }
    }

    enum Page: Equatable {
        case list
        case help(top: Int)
        /// - Parameter lines: The text of `dlm show`; empty until it was read.
        case details(DownloadID, lines: [String], top: Int)
    }

    /// The question in the last line of the screen, with the text that the user types.
    enum Prompt: Equatable {
        case filter(String)
        case limit(String, [DownloadID])
        case url(String, DownloadID)
        /// - Parameter lines: The URLs of the lines before, pasted or typed.
        case add([String], String)
        /// - Parameter action: The action that follows if the user presses `y`.
        case question(String, Action)
    }

    private static let largestPriority = 1_000_000

    var style: Style
    var size: (columns: Int, rows: Int) { didSet { if size != oldValue { isOutdated = true } } }
    var list = WatchList()
    var page = Page.list
    private(set) var prompt: Prompt?
    /// The message in the last line, until the next key.
    private(set) var message: String?
    private(set) var isLoaded = false { didSet { isOutdated = true } }
    /// Whether something has changed since the screen was drawn.
    var isOutdated = true
    /// The downloads that must be read from the store again.
    private var stale: Set<DownloadID> = []
    /// The downloads that are gone. An answer of the store may be older, and still show them.
    private var removed: Set<DownloadID> = []
    var top = 0
    /// The width of the widest name that was on the screen.
    var widest = 0

    init(style: Style, size: (columns: Int, rows: Int)) {
        self.style = style
        self.size = size
    }

    private var pageStep: Int { max(1, size.rows - 4) }

    // MARK: Downloads

    mutating func update(_ snapshots: [DownloadSnapshot]) {
        let rows = snapshots.map(WatchRow.init).filter { list[$0.id] != $0 && !removed.contains($0.id) }
        guard !rows.isEmpty else { return }
        list.put(rows)
        isOutdated = true
    }

    mutating func apply(_ event: LoggedEvent) {
        if event.kind == .removed { return remove([event.id]) }
        stale.insert(event.id)
        guard let row = WatchRow(event, after: list[event.id]) else { return }
        list.put(row)
        isOutdated = true
    }

    mutating func remove(_ ids: [DownloadID]) {
        removed.formUnion(ids)
        for id in ids {
            list.remove(id)
            stale.remove(id)
            if case .details(id, _, _) = page { page = .list }
        }
        isOutdated = true
    }

    /// Handles the end of reading all downloads. Rows that were not read are read again; they may be gone.
    mutating func loaded(_ ids: Set<DownloadID>) {
        isLoaded = true
        readAgain(list.order.filter { !ids.contains($0) })
    }

    mutating func readAgain(_ ids: [DownloadID]) { stale.formUnion(ids) }

    /// Returns the downloads to read again now: those that run or wait, those on the screen among them first, and those
    /// that have changed; at most `limit` of each. An event that comes later asks for another reading.
    mutating func polled(_ limit: Int) -> [DownloadID] {
        let changed = stale.count <= limit ? stale : Set(stale.prefix(limit))
        stale.subtract(changed)
        return changed.union(list.atWork(limit, from: top)).sorted()
    }

    mutating func show(_ document: DownloadDocument) {
        guard case .details(document.snapshot.id, let old, let top) = page else { return }
        let lines = ShowText(document: document, style: Style(isUnicode: style.isUnicode)).lines
        guard lines != old else { return }
        page = .details(document.snapshot.id, lines: lines, top: top)
        isOutdated = true
    }

    // MARK: Results

    mutating func say(_ text: String) {
        message = Escaping.line(Redaction.hidden(text))
        isOutdated = true
    }

    /// Reports what a change did. The word for the change is such as `paused`.
    mutating func changed(_ word: String, _ changed: [ChangedDownload]) {
        update(changed.map(\.snapshot))
        let done = changed.filter(\.didChange)
        if changed.count == 1, let only = changed.first?.snapshot {
            let text = done.isEmpty ? "\(only.state.kind.rawValue) already" : word
            return say("\(only.id): \(only.record.displayName): \(text)")
        }
        say("\(done.count) \(word)" + (done.count < changed.count ? ", \(changed.count - done.count) unchanged" : ""))
    }

    mutating func resumed(_ claimed: [ClaimedDownload]) {
        stale.formUnion(claimed.map(\.record.id))
        let complete = claimed.count { $0.kind == .completed }
        let texts = [(claimed.count - complete, "resumed"), (complete, "complete already")]
        say(texts.filter { $0.0 > 0 }.map { "\($0) \($1)" }.joined(separator: ", "))
    }

    /// The message after the end of the display: that the downloads go on. Nil if there are none that go on.
    var farewell: String? {
        let count = list.order.count { list[$0].map { $0.state.kind.isActive && !$0.isInterrupted } ?? false }
        if count == 0 { return nil }
        return "\(Units.count(count, "download")) \(count == 1 ? "goes" : "go") on; see: dlm watch"
    }

    /// Reports added downloads, and the first reason why others were refused.
    mutating func added(_ added: [AddedDownload], refused: [String]) {
        let new = added.count { $0.kind == .inserted }
        let known = added.count - new
        var parts = new > 0 || known == 0 ? ["\(new) added"] : []
        if known > 0 { parts.append("\(known) known already") }
        if let first = refused.first { parts.append("\(refused.count) refused: \(first)") }
        stale.formUnion(added.map(\.record.id))
        say(parts.joined(separator: ", "))
    }

    // MARK: Keys

    mutating func press(_ key: Key) -> [Action] {
        isOutdated = true
        list.pin()
        if let prompt { return answer(prompt, key) }
        message = nil
        switch page {
        case .list: return onList(key)
        case .help(let top):
            if let step = step(key) { page = .help(top: max(0, top + step)) } else { page = .list }
        case .details(let id, let lines, let top):
            if let step = step(key) {
                page = .details(id, lines: lines, top: max(0, top + step))
            } else if [.escape, .enter, .tab, .character("q")].contains(key) {
                page = .list
            } else {
                return command(key)
            }
        }
        return []
    }

    /// The number of lines by which a key moves; nil for a key that moves nothing.
    private func step(_ key: Key) -> Int? {
        switch key {
        case .up, .character("k"): -1
        case .down, .character("j"): 1
        case .pageUp: -pageStep
        case .pageDown: pageStep
        case .wheelUp: -3
        case .wheelDown: 3
        case .home: -1_000_000_000
        case .end: 1_000_000_000
        default: nil
        }
    }

    private mutating func onList(_ key: Key) -> [Action] {
        if let step = step(key) {
            list.move(by: step)
            return []
        }
        switch key {
        case .character(" "): list.toggleMark()
        case .character("/"): prompt = .filter(list.filter)
        case .character("s"):
            list.sortNext()
            say("sorted by \(list.sort.rawValue)")
        case .character("q"): return [.leave]
        case .character("a"): prompt = .add([], "")
        case .enter, .tab:
            guard let id = list.pin() else { break }
            page = .details(id, lines: [], top: 0)
            return [.show(id)]
        case .escape:
            list.marked = []
            list.filter(by: "")
        default: return command(key)
        }
        return []
    }

    /// The downloads for a command: the one whose details are shown, or the marked ones, or the selected one.
    private var targets: [DownloadID] {
        mutating get {
            if case .details(let id, _, _) = page { return [id] }
            return list.marked.isEmpty ? [list.pin()].compactMap(\.self) : list.marked.sorted()
        }
    }

    private mutating func command(_ key: Key) -> [Action] {
        guard case .character(let letter) = key else { return [] }
        if letter == "?" || letter == "h" {
            page = .help(top: 0)
            return []
        }
        let ids = targets
        let rows = ids.compactMap { list[$0] }
        guard let first = rows.first else { return [] }
        switch letter {
        case "p": return [.change(ids, .pause)]
        case "r":
            let stopped = rows.filter { ![.running, .queued].contains($0.state.kind) || $0.isInterrupted }
            if !stopped.isEmpty { return [.resume(stopped.map(\.id))] }
            say("at work already")
        case "c": prompt = .question("Cancel \(Self.name(rows))? The fetched bytes are kept.", .change(ids, .cancel))
        case "d": prompt = .question("Remove \(Self.name(rows))? \(Self.fates(rows))", .remove(ids))
        case "l": prompt = .limit("", ids)
        case "u": prompt = .url("", first.id)
        case "+", "=", "-":
            let step = letter == "-" ? -1 : 1
            let wanted = Dictionary(grouping: rows) {
                max(-Self.largestPriority, min($0.priority + step, Self.largestPriority))
            }
            return wanted.sorted { $0.key < $1.key }.map { .change($0.value.map(\.id), .priority($0.key)) }
        case "o":
            let paths = rows.compactMap(\.path)
            if paths.isEmpty {
                say("the name of the file is not known yet")
            } else {
                say("sent to the clipboard of the terminal: \(paths.joined(separator: " "))")
                return [.copy(paths.joined(separator: "\n"))]
            }
        default: break
        }
        return []
    }

    private static func name(_ rows: [WatchRow]) -> String {
        if rows.count == 1, let row = rows.first { return "\(row.id): \(Escaping.line(row.progress.name))" }
        return "\(rows.count) downloads"
    }

    /// Says what happens to the files of removed downloads.
    private static func fates(_ rows: [WatchRow]) -> String {
        let finished = rows.count { $0.state == .completed }
        let partial = rows.count { $0.state != .completed && $0.progress.received > 0 }
        var parts: [String] = []
        for (count, kind, fate) in [(partial, "partial", "deleted"), (finished, "finished", "kept")] where count > 0 {
            let start = rows.count == 1 ? "Its" : "\(count)"
            parts.append("\(start) \(kind) \(count == 1 ? "file is" : "files are") \(fate).")
        }
        return parts.isEmpty ? "Nothing was fetched." : parts.joined(separator: " ")
    }

    // MARK: Prompts

    private mutating func answer(_ prompt: Prompt, _ key: Key) -> [Action] {
        switch prompt {
        case .question(_, let action):
            if [.wheelUp, .wheelDown].contains(key) { return [] }
            self.prompt = nil
            if [.character("y"), .character("Y")].contains(key) { return [action] }
            say("nothing was changed")
        case .filter(let text):
            if key == .enter { self.prompt = nil }
            if key == .escape {
                self.prompt = nil
                list.filter(by: "")
            }
            guard let text = TypedLine.edited(text, key) else { break }
            self.prompt = .filter(text)
            list.filter(by: text)
        case .add(let lines, let text): return edit(lines, text, key)
        case .limit(let text, let ids):
            if let text = TypedLine.edited(text, key) { self.prompt = .limit(text, ids) }
            return finish(key) { .change(ids, .rateLimit(try ByteRate(argument: text).limit)) }
        case .url(let text, let id):
            if let text = TypedLine.edited(text, key) { self.prompt = .url(text, id) }
            return finish(key) {
                let (address, credential) = try RequestMaker.address(text).get()
                return .change([id], .url(address, credential))
            }
        }
        return []
    }

    /// Edits the URLs to add. Each line of a paste is a URL; nothing is added before Enter.
    private mutating func edit(_ lines: [String], _ text: String, _ key: Key) -> [Action] {
        var (lines, text) = (lines, text)
        if case .paste(let pasted) = key {
            let parts = pasted.split(omittingEmptySubsequences: false) { $0.isNewline }
            for part in parts.dropLast() {
                lines.append(TypedLine.edited(text, .paste(String(part))) ?? text)
                text = ""
            }
            text = TypedLine.edited(text, .paste(String(parts.last ?? ""))) ?? text
            lines = lines.map { $0.trimmed }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        } else if key == .backspace, text.isEmpty, let last = lines.popLast() {
            text = last
        } else {
            text = TypedLine.edited(text, key) ?? text
        }
        prompt = .add(lines, text)
        return finish(key) {
            let all = (lines + [text.trimmed]).filter { !$0.isEmpty }
            return all.isEmpty ? nil : .add(all)
        }
    }

    /// Ends a typed line with Enter or Escape.
    private mutating func finish(_ key: Key, _ action: () throws -> Action?) -> [Action] {
        guard key == .enter || key == .escape else { return [] }
        prompt = nil
        guard key == .enter else { return [] }
        do {
            return [try action()].compactMap(\.self)
        } catch {
            say("\(error)")
            return []
        }
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
