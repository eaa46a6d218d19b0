import DownloadKit

/// The keys of a command that shows the progress of its downloads, without their terminal. The effects of keys are
/// returned as ``Action``s.
struct ProgressKeys: Equatable {
    enum Action: Equatable, Sendable {
        /// Pauses the downloads, or resumes them if all are paused.
        case pause
        case limit(Int64?)
        case background
        /// Reads a download for its details.
        case show(DownloadID)
    }

    /// The lines below the progress.
    enum Page: Equatable {
        case nothing
        case help
        case limit(String, isEach: Bool)
        /// - Parameter lines: The text of `dlm show`; empty until it was read.
        case details(DownloadID, lines: [String])
    }

    private static let help = [
        ("p", "pause all downloads of this command, or go on"),
        ("l", "limit the speed"),
        ("b", "go on in the background; this command ends with status 1"),
        ("i", "details of a download; again: of the next one"),
        ("?", "show or hide these keys"),
        ("Ctrl-C", "pause and end; dlm resume goes on"),
    ]

    private(set) var page = Page.nothing
    /// The message below the progress, until the next key.
    private(set) var message: String?

    var shown: DownloadID? { if case .details(let id, _) = page { id } else { nil } }

    mutating func say(_ text: String?) { message = text.map { Escaping.line(Redaction.hidden($0)) } }

    /// Sets the lines of the details. Returns false if other details or none are shown by now.
    mutating func show(_ lines: [String], of id: DownloadID) -> Bool {
        guard shown == id else { return false }
        page = .details(id, lines: lines)
        return true
    }

    /// Handles keys that arrived together.
    /// - Parameter ids: the downloads that have not ended, in the order of their rows.
    mutating func press(_ keys: [Key], _ ids: [DownloadID]) -> [Action] {
        // Nobody presses several letters at once, so this is text that was pasted into a terminal without bracketed
        // paste.
        let isPaste = keys.count { if case .character = $0 { true } else { false } } > 1
        if case .limit = page {} else if isPaste { return [] }
        return keys.flatMap { press($0, ids) }
    }

    private mutating func press(_ key: Key, _ ids: [DownloadID]) -> [Action] {
        message = nil
        if case .limit(let text, let isEach) = page { return edit(text, isEach: isEach, key) }
        if key == .escape || key == .enter { page = .nothing }
        guard case .character(let letter) = key else { return [] }
        switch letter {
        case "p": return [.pause]
        case "b": return [.background]
        case "l": page = .limit("", isEach: ids.count > 1)
        case "?", "h": if case .help = page { page = .nothing } else { page = .help }
        case "i": return showNext(ids)
        default: message = "? shows the keys"
        }
        return []
    }

    private mutating func showNext(_ ids: [DownloadID]) -> [Action] {
        var next = 0
        if let shown { next = ids.firstIndex(of: shown).map { $0 + 1 } ?? ids.count }
        guard next < ids.count else {
            page = .nothing
            return []
        }
        page = .details(ids[next], lines: [])
        return [.show(ids[next])]
    }

    private mutating func edit(_ text: String, isEach: Bool, _ key: Key) -> [Action] {
        if let text = TypedLine.edited(text, key) { page = .limit(text, isEach: isEach) }
        guard key == .enter || key == .escape else { return [] }
        page = .nothing
        guard key == .enter else { return [] }
        do { return [.limit(try ByteRate(argument: text).limit)] } catch { say("\(error)") }
        return []
    }

    /// Returns the lines below the progress, at most `height`, each with less than `columns` columns.
    func lines(columns: Int, height: Int, _ style: Style) -> [String] {
        let room = max(1, columns - 1)
        var lines: [String]
        switch page {
        case .nothing: lines = []
        case .help: lines = Self.help.map { style.dim(cut(DisplayWidth.padded($0.0, to: 6) + "  " + $0.1, room)) }
        case .limit(let text, let isEach):
            let label = "limit\(isEach ? " of each" : "") (500k, 2M, none): "
            lines = [TypedLine.shown(label, text, room: room, style)]
        case .details(_, let text): lines = text.map { cut($0, room) }
        }
        if let message { lines.append(cut(message, room)) }
        return Array(lines.prefix(max(0, height)))
    }

    private func cut(_ text: String, _ room: Int) -> String { DisplayWidth.cutEnd(text, to: room) }
}
