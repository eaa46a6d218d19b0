import DownloadKit
import Foundation

extension WatchModel {
    private static let keys = [
        ("Up Down PgUp PgDn Home End", "move (also the mouse wheel)"),
        ("Enter, Tab", "details of the download, and back"),
        ("/", "show only names with a text; Escape shows all"),
        ("s", "sort by number, name, size, speed or priority"),
        ("Space", "mark; the keys below then apply to all marked ones"),
        ("p", "pause"),
        ("r", "resume, or try again; in the background"),
        ("c", "cancel; the fetched bytes are kept"),
        ("d", "remove with the partial file; keep a finished file"),
        ("l", "limit the speed"),
        ("+ -", "start earlier or later (priority)"),
        ("a", "add URLs, typed or pasted; in the background"),
        ("u", "continue from another URL"),
        ("o", "copy the path of the file"),
        ("q", "leave; the downloads go on"),
    ]
    private static let hints = [
        "? help", "q leave", "p pause", "r resume", "a add", "Space mark", "/ filter", "Enter details", "c cancel",
        "d remove", "l limit", "+ - priority", "s sort",
    ]

    /// Returns the lines of the whole screen, from top to bottom. Each line fits into the columns of the terminal.
    mutating func screen(now: Date) -> [String] {
        let rows = max(1, size.rows)
        let footer = Array(footer.prefix(rows))
        let hasTitle = rows - footer.count > 1
        let height = rows - footer.count - (hasTitle ? 1 : 0)
        var body: [String]
        switch page {
        case .list: body = listLines(height, now)
        case .help(var top):
            body = Self.visible(helpLines, from: &top, height)
            page = .help(top: top)
        case .details(let id, let lines, var top):
            body = Self.visible(lines.flatMap(wrapped), from: &top, height)
            page = .details(id, lines: lines, top: top)
        }
        body += [String](repeating: "", count: max(0, height - body.count))
        return (hasTitle ? [title] : []) + body + footer
    }

    /// Returns the visible lines of a text. Its end is not above the end of the page.
    private static func visible(_ lines: [String], from top: inout Int, _ height: Int) -> [String] {
        top = max(0, min(top, lines.count - height))
        return Array(lines.dropFirst(top).prefix(height))
    }

    /// The columns that may be used. Some terminals break a line that fills all columns.
    private var room: Int { max(1, size.columns - 1) }

    private var title: String {
        switch page {
        case .help: return cut("The keys of dlm watch")
        case .details: return cut("Details (Enter: back to the list)")
        case .list: break
        }
        var parts = zip(WatchList.groups, list.counts).filter { $1 > 0 }.map { "\($1) \($0.rawValue)" }
        if !list.marked.isEmpty { parts.insert("\(list.marked.count) marked", at: 0) }
        if !list.filter.isEmpty { parts.insert("filter: \(Escaping.line(list.filter))", at: 0) }
        if list.sort != .number { parts.append("by \(list.sort.rawValue)") }
        let speed = list.speed > 0 ? Units.rate(list.speed) : ""
        let left = "dlm watch" + (parts.isEmpty ? "" : ": ") + parts.joined(separator: ", ")
        let width = DisplayWidth.of(speed)
        guard width > 0, room >= 30 + width else { return cut(left) }
        let text = DisplayWidth.cutEnd(left, to: room - width - 2)
        return DisplayWidth.padded(text, to: room - width) + style.accent(speed)
    }

    /// The title of the terminal's window.
    var windowTitle: String {
        let speed = list.speed > 0 ? ", \(Units.rate(list.speed))" : ""
        return "dlm watch: \(list.counts[0]) running\(speed)"
    }

    private var footer: [String] {
        switch prompt {
        case .question(let text, _): return wrapped("\(text) (y/n)").map(style.warning)
        case .filter(let text): return [typed("filter: ", text)]
        case .limit(let text, let ids):
            let label = ids.count == 1 ? "limit" : "limit of \(ids.count)"
            return [typed("\(label) (500k, 2M, none): ", text)]
        case .url(let text, let id): return [typed("new URL of \(id): ", text)]
        case .add(let lines, let text):
            let count = lines.count + (text.isEmpty ? 0 : 1)
            return [typed(lines.isEmpty ? "add URL: " : "add \(Units.count(count, "URL")) (Enter, or Escape): ", text)]
        case nil: break
        }
        if let message { return wrapped(message) }
        if case .list = page { return [style.dim(hint)] }
        return [style.dim(cut("q back  ? help  Up and Down: move"))]
    }

    private var hint: String {
        var text = ""
        for hint in Self.hints {
            let longer = text.isEmpty ? hint : text + "  " + hint
            if DisplayWidth.of(longer) > room { break }
            text = longer
        }
        return text
    }

    private func typed(_ label: String, _ text: String) -> String {
        TypedLine.shown(label, text, room: room, style)
    }

    private var helpLines: [String] {
        let width = Self.keys.map { $0.0.count }.max() ?? 0
        guard room >= width + 30 else { return Self.keys.flatMap { wrapped("\($0.0): \($0.1)") } }
        return Self.keys.map { cut(DisplayWidth.padded($0.0, to: width) + "  " + $0.1) }
    }

    private mutating func listLines(_ height: Int, _ now: Date) -> [String] {
        guard height > 0 else { return [] }
        guard let cursor = list.cursor() else {
            top = 0
            if !list.filter.isEmpty { return [cut("No name contains this text.")] }
            return [cut(isLoaded ? "There are no downloads." : "Reading the downloads.")]
        }
        let line = list.line(ofRow: cursor)
        // The heading above the first row of a group stays visible if there is room.
        let first = height > 1 && list.lines(line - 1..<line).contains { if case .heading = $0 { true } else { false } }
        top = min(top, first ? line - 1 : line, max(0, list.lineCount - height))
        top = max(top, line - height + 1)
        let lines = list.lines(top..<top + height)
        let selected = list.shown[cursor]
        var renderer = rowRenderer(lines)
        return lines.map { line in
            switch line {
            case .heading(let state, let count):
                return style.state(state, cut("\(state.rawValue) \(count)"))
            case .row(let id): return self.line(id, isSelected: id == selected, now, &renderer)
            }
        }
    }

    /// The number of columns before a row: the selection, the mark and the number of the download.
    private var margin: Int { hasNumbers ? 3 + numberWidth : 2 }
    private var hasNumbers: Bool { size.columns >= 40 }
    private var numberWidth: Int { String(list.largestID).count }

    private mutating func rowRenderer(_ lines: [WatchList.Line]) -> ProgressRenderer {
        for case .row(let id) in lines {
            widest = max(widest, list[id].map { DisplayWidth.of(Escaping.line($0.progress.name)) } ?? 0)
        }
        return ProgressRenderer(size: (max(1, size.columns - margin), 0), style: style, widest: widest)
    }

    private func line(_ id: DownloadID, isSelected: Bool, _ now: Date, _ renderer: inout ProgressRenderer) -> String {
        guard let row = list[id] else { return "" }
        var line = (isSelected ? ">" : " ") + (list.marked.contains(id) ? "*" : " ")
        if hasNumbers { line += DisplayWidth.rightAligned("\(id)", to: numberWidth) + " " }
        // The colours of a row would end the attribute of the selection. In a very narrow terminal, the row must be cut.
        renderer.style.isColored = style.isColored && !isSelected && size.columns >= 20
        line += renderer.line(row.progressRow(now))
        if size.columns < 20 { line = cut(line) }
        if isSelected { line = style.selected(DisplayWidth.padded(line, to: room)) }
        return row.state == .completed ? style.link(line, to: row.path) : line
    }

    private func cut(_ text: String) -> String { DisplayWidth.cutEnd(text, to: room) }

    /// Returns the text in lines that fit. It is broken anywhere, because most long texts are URLs and paths.
    private func wrapped(_ text: String) -> [String] {
        var (lines, line, width) = ([String](), "", 0)
        for character in text {
            let columns = DisplayWidth.of(String(character))
            if width + columns > room {
                lines.append(line)
                (line, width) = ("", 0)
            }
            line.append(character)
            width += columns
        }
        return lines + [line]
    }
}

extension WatchRow {
    func progressRow(_ now: Date) -> ProgressFrame.Row {
        var row = ProgressFrame.Row(progress)
        switch state {
        case _ where isInterrupted: row.note = StandingText.interrupted
        case .running: row.note = progress.phase?.rawValue
        case .waiting, .failed: row.note = StateText.note(state, now: now)
        case .queued: row.note = priority == 0 ? "queued" : "queued, priority \(priority)"
        case .paused, .cancelled: row.note = StateText.note(state, now: now) ?? state.kind.rawValue
        case .completed: break
        }
        return row
    }
}
