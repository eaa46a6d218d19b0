import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("The list of dlm watch and its keys")
struct WatchModelTests {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let sizes = [(80, 24), (40, 10), (20, 5), (200, 60), (5, 2), (1, 1)]
    static let states: [DownloadState] = [
        .running, .queued, .paused(.user), .completed, .failed(.authenticationFailed(status: 401)), .cancelled,
    ]
    static let names = [
        "debian-12.iso", "東京の天気-2026-11-21-très-long-name.csv.gz", "evil\u{1B}[2J\u{202E}gpj.exe",
        "e\u{301}t\u{E9}👩‍👩‍👧.txt",
    ]

    static func snapshot(
        _ id: DownloadID, _ name: String, _ state: DownloadState, received: Int64 = 0, total: Int64? = nil,
        speed: Double? = nil, priority: Int = 0
    ) -> DownloadSnapshot {
        var record = DownloadRecord.example(id: id, state: state) { $0.fileName = name }
        record.request.priority = priority
        let progress = DownloadProgress(
            id: id, name: name, state: state, received: received, total: total, speed: speed)
        return DownloadSnapshot(record: record, progress: progress)
    }

    static func model(
        _ snapshots: [DownloadSnapshot], columns: Int = 80, rows: Int = 24, colors: Bool = false
    ) -> WatchModel {
        var model = WatchModel(style: Style(isColored: colors), size: (columns, rows))
        model.update(snapshots)
        model.loaded(Set(snapshots.map(\.id)))
        return model
    }

    static func many(_ count: Int) -> [DownloadSnapshot] {
        (0..<count).map {
            snapshot(
                DownloadID($0 + 1), "\($0)-" + names[$0 % names.count], states[$0 % states.count], received: Int64($0),
                total: 20_000, speed: $0 % 6 == 0 ? 1000 : nil, priority: $0 % 3)
        }
    }

    /// Returns the screen without the attribute of the selection.
    func screen(_ model: inout WatchModel) -> [String] {
        model.screen(now: Self.now).map {
            $0.replacing("\u{1B}[7m", with: "").replacing("\u{1B}[0m", with: "").replacing(/\x20+$/, with: "")
        }
    }

    func press(_ keys: String, _ model: inout WatchModel) -> [WatchModel.Action] {
        keys.flatMap { model.press($0 == "\r" ? .enter : $0 == "\u{1B}" ? .escape : .character($0)) }
    }

    // MARK: Screens

    @Test("The list groups the downloads by state")
    func list() {
        let mib: Int64 = 1 << 20
        var model = Self.model([
            Self.snapshot(1, "debian-12.iso", .running, received: 412 * mib, total: 654 * mib, speed: 88 * 1_048_576),
            Self.snapshot(2, "evil\u{1B}[2J\u{202E}gpj.exe", .paused(.user), received: mib, total: 2 * mib),
            Self.snapshot(3, "q", .queued, priority: 3),
            Self.snapshot(4, "done.txt", .completed, received: 9, total: 9),
        ])
        let lines = screen(&model)
        #expect(lines[0].hasPrefix("dlm watch: 1 running, 1 queued, 1 paused, 1 completed "))
        #expect(lines[0].hasSuffix("88 MiB/s"))
        #expect(
            [1, 3, 5, 7].map { lines[$0] } == ["running 1", "queued 1", "paused 1", "completed 1"])
        #expect(lines[2].hasPrefix("> 1 debian-12.iso") && lines[2].hasSuffix("62%    88 MiB/s     0:03"))
        #expect(lines[4].hasPrefix("  3 q ") && lines[4].hasSuffix("queued, priority 3"))
        #expect(lines[6].hasPrefix("  2 evil\\x1b[2J\\u202egpj.exe"))
        #expect(lines[8].hasPrefix("  4 done.txt") && lines[8].hasSuffix("100%"))
        #expect(lines[23].hasPrefix("? help  q leave  p pause"))
    }

    @Test(
        "On every page and at every size, the lines fill the screen, fit, and contain nothing that moves the cursor",
        arguments: [0, 1, 50, 10_000], [false, true])
    func fits(count: Int, colors: Bool) {
        let pages = ["", "?", "d", "l123", "ahttp://été/", "/été", " c", "G", "o", "\r"]
        let loaded = Self.model(Self.many(count), colors: colors)
        for (columns, rows) in Self.sizes {
            for keys in pages {
                var model = loaded
                model.size = (columns, rows)
                if keys == "G" { _ = model.press(.end) } else { _ = press(keys, &model) }
                model.show(DownloadDocument(Self.many(1)[0], now: Self.now))
                let lines = model.screen(now: Self.now)
                #expect(lines.count == rows, "\(columns)x\(rows) \(keys)")
                for line in lines {
                    #expect(DisplayWidth.of(line) <= columns, "\(columns)x\(rows) \(keys): \(line)")
                    let text = line.replacing(/\u{1B}\[[0-9]*m/, with: "")
                    #expect(Escaping.line(text) == text, "\(columns)x\(rows) \(keys): \(line)")
                    #expect(colors || !line.contains(/\u{1B}\[[12345689]/), "\(line)")
                }
            }
        }
    }

    @Test("The selected row is always on the screen", arguments: [1, 50, 10_000])
    func scrolling(count: Int) {
        for (columns, rows) in Self.sizes.prefix(4) {
            var model = Self.model(Self.many(count), columns: columns, rows: rows)
            for key in [
                Key.end, .up, .pageUp, .wheelUp, .home, .down, .pageDown, .pageDown, .wheelDown, .down, .end, .home,
            ] {
                _ = model.press(key)
                let lines = screen(&model)
                #expect(lines.count { $0.hasPrefix(">") } == 1, "\(columns)x\(rows) \(key)")
            }
            #expect(screen(&model)[1].hasPrefix("running "))
        }
    }

    @Test("A list without downloads says so")
    func nothing() {
        var model = WatchModel(style: Style(), size: (80, 24))
        #expect(screen(&model)[1] == "Reading the downloads.")
        model.loaded([])
        #expect(screen(&model)[1] == "There are no downloads.")
        #expect(press("pd\r", &model) == [])
        #expect(press("q", &model) == [.leave])
        #expect(model.farewell == nil)
    }

    // MARK: Order

    @Test("Changes one by one give the same order as one sort of everything", arguments: WatchList.Sort.allCases)
    func order(_ sort: WatchList.Sort) {
        var random = SeededGenerator(for: "The order of dlm watch")
        var (list, last) = (WatchList(), [DownloadID: WatchRow]())
        while list.sort != sort { list.sortNext() }
        list.filter(by: "1")
        for _ in 0..<2000 {
            let id = DownloadID(Int.random(in: 1...60, using: &random))
            if Int.random(in: 0..<10, using: &random) == 0 {
                list.remove(id)
                last[id] = nil
            } else {
                let row = WatchRow(
                    Self.snapshot(
                        id, "\(Int.random(in: 0..<40, using: &random))",
                        Self.states.randomElement(using: &random) ?? .queued,
                        received: .random(in: 0..<5, using: &random), total: 5,
                        speed: .random(in: 0..<5, using: &random), priority: .random(in: 0..<3, using: &random)))
                list.put(row)
                last[id] = row
            }
        }
        var sorted = WatchList()
        while sorted.sort != sort { sorted.sortNext() }
        for row in last.values { sorted.put(row) }
        for filter in ["1", "", "2"] {
            list.filter(by: filter)
            sorted.filter(by: filter)
            sorted.sortNext()
            while sorted.sort != sort { sorted.sortNext() }
            #expect(list.shown == sorted.shown)
            #expect(list.counts == sorted.counts)
            #expect(list.shown.count == list.counts.reduce(0, +))
        }
        #expect(abs(list.speed - sorted.speed) < 1e-6)
        let ranks = list.order.compactMap { list[$0]?.rank }
        #expect(ranks == ranks.sorted() && ranks.count == last.count)
    }

    @Test("The selection follows its download, and stays at its place when the download is gone")
    func selection() {
        var model = Self.model((1...5).map { Self.snapshot($0, "f\($0)", .running) })
        _ = press("jj", &model)
        model.update([Self.snapshot(3, "f3", .completed)])
        #expect(screen(&model).contains { $0.hasPrefix("> 3 f3") })
        model.remove([3])
        #expect(screen(&model).contains { $0.hasPrefix("> 5 f5") })
        model.apply(
            LoggedEvent(cursor: 1, time: Self.now, kind: .removed, id: 5, name: "f5", url: "http://a/f5"))
        #expect(screen(&model).contains { $0.hasPrefix("> 4 f4") })
        model.apply(
            LoggedEvent(
                cursor: 2, time: Self.now, kind: .added, id: 9, name: "new", url: "http://a/new", state: .queued))
        #expect(screen(&model).contains { $0.hasPrefix("  9 new") })
        #expect(model.polled(64) == [1, 2, 4, 9])
        #expect(model.polled(64) == [1, 2, 4])
        #expect(model.farewell == "4 downloads go on; see: dlm watch")
    }

    @Test("Of many downloads at work, those on the screen are read first")
    func polling() {
        var model = Self.model(
            (1...200).map { Self.snapshot($0, "f\($0)", $0 <= 150 ? .running : .completed) }, rows: 10)
        #expect(model.polled(20) == Array(1...20))
        for _ in 0..<99 { _ = model.press(.down) }
        _ = screen(&model)
        #expect(model.polled(20).contains(100))
        _ = model.press(.end)
        _ = screen(&model)
        #expect(model.polled(20) == Array(1...20))
    }

    @Test("s changes the order, and the title shows it")
    func sorting() {
        var model = Self.model([
            Self.snapshot(1, "b", .queued, total: 5), Self.snapshot(2, "a", .queued, total: 9, priority: 1),
            Self.snapshot(3, "c", .queued, total: 7),
        ])
        let orders = (0..<5).map { _ in
            _ = press("s", &model)
            return model.list.shown
        }
        #expect(orders == [[2, 1, 3], [2, 3, 1], [1, 2, 3], [2, 1, 3], [1, 2, 3]])
    }

    @Test("The filter shows only matching names, Enter keeps it, and Escape ends it")
    func filter() {
        var model = Self.model([
            Self.snapshot(1, "Debian.iso", .queued), Self.snapshot(2, "Ubuntu.iso", .queued),
            Self.snapshot(3, "ÉTÉ.txt", .queued),
        ])
        _ = press("/DEB", &model)
        #expect(model.list.shown == [1])
        #expect(screen(&model)[23] == "filter: DEB")
        _ = press("x", &model)
        #expect(screen(&model)[1] == "No name contains this text.")
        _ = model.press(.backspace)
        #expect(model.press(.enter) == [])
        #expect(press("p", &model) == [.change([1], .pause)])
        model.update([Self.snapshot(4, "debris", .queued)])
        #expect(model.list.shown == [1, 4])
        _ = press("\u{1B}", &model)
        #expect(model.list.shown == [1, 2, 3, 4])
        _ = press("/", &model)
        _ = model.press(.paste("été\r\nq"))
        #expect(model.list.shown == [3])
    }

    // MARK: Keys

    @Test("Keys change the selected download, or the marked ones")
    func actions() {
        var model = Self.model(
            [Self.snapshot(1, "a", .running, received: 1), Self.snapshot(2, "b", .paused(.user), priority: 2)])
        #expect(press("p", &model) == [.change([1], .pause)])
        #expect(press("j", &model) == [])
        #expect(press("r", &model) == [.resume([2])])
        #expect(press("+", &model) == [.change([2], .priority(3))])
        #expect(press("l500k\r", &model) == [.change([2], .rateLimit(512_000))])
        #expect(press("lnone\r", &model) == [.change([2], .rateLimit(nil))])
        #expect(press("lmuch\r", &model) == [])
        #expect(model.message == "give a speed such as 500k, 2M, 1.5GiB or none")
        #expect(press("l5\u{1B}", &model) == [])
        #expect(model.prompt == nil)
        #expect(press("uhttp://b.example/x\r", &model) == [.change([2], .url(.example("http://b.example/x"), nil))])
        _ = model.press(.home)
        #expect(press("  ", &model) == [])
        #expect(model.list.marked == [1, 2])
        #expect(press("-", &model) == [.change([1], .priority(-1)), .change([2], .priority(1))])
        #expect(press("p", &model) == [.change([1, 2], .pause)])
        _ = press("\u{1B}", &model)
        #expect(model.list.marked == [])
    }

    @Test("a adds the URLs that are typed or pasted, a line each, after Enter")
    func adding() {
        var model = Self.model([])
        #expect(press("ahttp://a/x", &model) == [])
        #expect(screen(&model).last == "add URL: http://a/x")
        #expect(model.press(.enter) == [.add(["http://a/x"])])
        #expect(press("ahttp://a/", &model) == [])
        #expect(model.press(.paste("1\r\n  http://a/2\n\n# no\u{1B}[2J\nhttp://a/3")) == [])
        #expect(screen(&model).last == "add 3 URLs (Enter, or Escape): http://a/3")
        _ = model.press(.deleteLine)
        // Backspace at the start of a line goes to the line before.
        _ = model.press(.backspace)
        #expect(screen(&model).last == "add 2 URLs (Enter, or Escape): http://a/2")
        #expect(model.press(.enter) == [.add(["http://a/1", "http://a/2"])])
        #expect(press("a\r", &model) == [] && press("ahttp://a/x\u{1B}", &model) == [])
        #expect(model.prompt == nil)
        _ = press("a", &model)
        _ = model.press(.paste("http://a/1\n"))
        #expect(model.press(.enter) == [.add(["http://a/1"])])
    }

    @Test("Adding says how many downloads are new, and why others are refused")
    func added() {
        var model = Self.model([])
        func say(_ kinds: [AddedDownload.Kind], _ refused: [String]) -> String? {
            model.added(
                kinds.map { AddedDownload(kind: $0, record: .example(id: 1)) }, refused: refused)
            return model.message
        }
        #expect(say([.inserted, .inserted], []) == "2 added")
        #expect(say([.inserted, .joined, .adopted], []) == "1 added, 2 known already")
        #expect(say([.joined], []) == "1 known already")
        #expect(say([], ["no\u{1B} URL", "b"]) == "0 added, 2 refused: no\\x1b URL")
    }

    @Test("The window's title has the number of running downloads and their speed")
    func windowTitle() {
        var model = Self.model([])
        #expect(model.windowTitle == "dlm watch: 0 running")
        model.update([Self.snapshot(1, "a\u{7}", .running, speed: 2048), Self.snapshot(2, "b", .queued)])
        #expect(model.windowTitle == "dlm watch: 1 running, 2.0 KiB/s")
    }

    @Test("The row of a finished download is a link, if the terminal has links")
    func links() {
        let done = Self.snapshot(1, "a b\u{1B}é", .completed, received: 1)
        for hasLinks in [true, false] {
            var model = WatchModel(style: Style(hasLinks: hasLinks), size: (80, 24))
            model.update([done, Self.snapshot(2, "c", .queued)])
            let linked = model.screen(now: Self.now).filter { $0.contains("\u{1B}]8;;file://") }
            #expect(linked.count == (hasLinks ? 1 : 0))
            #expect(linked.allSatisfy { $0.contains("/a%20b%1B%C3%A9\u{1B}\\") })
        }
    }

    @Test("A paste is never read as keys")
    func paste() {
        var model = Self.model([Self.snapshot(1, "a", .running)])
        #expect(model.press(.paste("dyq\r")) == [])
        #expect(model.page == .list && model.prompt == nil)
        _ = press("d", &model)
        #expect(model.press(.paste("y")) == [])
        #expect(press("y", &model) == [])
    }

    @Test("Cancelling and removing ask first, and say what happens to the files")
    func questions() {
        var model = Self.model([
            Self.snapshot(1, "a\u{1B}c", .running, received: 1), Self.snapshot(2, "b", .queued),
            Self.snapshot(3, "c", .completed, received: 1), Self.snapshot(4, "d", .completed, received: 1),
        ])
        func asked(_ keys: String) -> String {
            _ = press(keys, &model)
            return screen(&model).last ?? ""
        }
        #expect(asked("c") == "Cancel 1: a\\x1bc? The fetched bytes are kept. (y/n)")
        #expect(press("n", &model) == [])
        #expect(model.message == "nothing was changed")
        #expect(press("cy", &model) == [.change([1], .cancel)])
        #expect(asked("d") == "Remove 1: a\\x1bc? Its partial file is deleted. (y/n)")
        #expect(press("y", &model) == [.remove([1])])
        #expect(asked("jd") == "Remove 2: b? Nothing was fetched. (y/n)")
        #expect(asked("njd") == "Remove 3: c? Its finished file is kept. (y/n)")
        _ = press("n", &model)
        _ = model.press(.home)
        #expect(
            asked("    d") == "Remove 4 downloads? 1 partial file is deleted. 2 finished files are kept. (y/n)")
        #expect(press("y", &model) == [.remove([1, 2, 3, 4])])
    }

    @Test("Messages say what a change did")
    func results() {
        var model = Self.model([Self.snapshot(1, "a", .running), Self.snapshot(2, "b", .running)])
        let paused = ChangedDownload(snapshot: Self.snapshot(1, "a", .paused(.user)), didChange: true)
        let done = ChangedDownload(snapshot: Self.snapshot(2, "b", .completed), didChange: false)
        model.changed("paused", [paused])
        #expect(screen(&model).last == "1: a: paused")
        model.changed("paused", [done])
        #expect(screen(&model).last == "2: b: completed already")
        model.changed("paused", [paused, done])
        #expect(screen(&model).last == "1 paused, 1 unchanged")
        model.resumed([
            ClaimedDownload(.claimed, paused.snapshot.record), ClaimedDownload(.completed, done.snapshot.record),
        ])
        #expect(screen(&model).last == "1 resumed, 1 complete already")
        model.say("bad\u{1B}[2J http://me:secret@a/")
        #expect(screen(&model).last == "bad\\x1b[2J http://***@a/")
        _ = press("j", &model)
        #expect(model.message == nil)
    }

    @Test("Enter shows the text of dlm show, and keys apply to that download")
    func details() {
        let first = Self.snapshot(1, "a", .paused(.user), received: 5, total: 10)
        var model = Self.model([first, Self.snapshot(2, "b", .queued)])
        #expect(press("jj\r", &model) == [.show(1)])
        let document = DownloadDocument(first, now: Self.now)
        model.show(DownloadDocument(Self.snapshot(2, "b", .queued), now: Self.now))
        #expect(screen(&model)[1] == "")
        model.show(document)
        let text = ShowText(document: document, style: Style()).lines
        #expect(screen(&model)[1...2] == text[0...1])
        #expect(press("r", &model) == [.resume([1])])
        #expect(press("dy", &model) == [.remove([1])])
        model.remove([1])
        #expect(model.page == .list)
        #expect(press("\r", &model) == [.show(2)])
        #expect(press("q", &model) == [])
        #expect(model.page == .list)
    }

    @Test("? shows the keys, and any key that does not scroll leads back")
    func help() {
        var wide = Self.model(Self.many(3))
        _ = press("?", &wide)
        #expect(screen(&wide).allSatisfy { !$0.contains("…") })
        var model = Self.model(Self.many(3), columns: 20, rows: 5)
        _ = press("?", &model)
        #expect(screen(&model)[1] == "Up Down PgUp PgDn H")
        _ = model.press(.end)
        #expect(screen(&model)[3].hasSuffix("ds go on"))
        _ = press("q", &model)
        #expect(model.page == .list)
    }
}
