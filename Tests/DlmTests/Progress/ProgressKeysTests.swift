import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The keys of a foreground command")
struct ProgressKeysTests {
    func press(_ text: String, _ keys: inout ProgressKeys) -> [ProgressKeys.Action] {
        text.flatMap { keys.press([$0 == "\r" ? .enter : $0 == "\u{1B}" ? .escape : .character($0)], [4, 7]) }
    }

    func lines(_ keys: ProgressKeys, columns: Int = 80, height: Int = 20) -> [String] {
        keys.lines(columns: columns, height: height, Style()).map { $0.replacing(/\u{1B}\[[0-9]*m/, with: "") }
    }

    @Test("p pauses or resumes, b goes to the background, and l asks for a limit")
    func actions() {
        var keys = ProgressKeys()
        #expect(press("pb", &keys) == [.pause, .background])
        #expect(lines(keys) == [])
        #expect(press("l", &keys) == [])
        #expect(lines(keys) == ["limit of each (500k, 2M, none):  "])
        #expect(press("500k\r", &keys) == [.limit(512_000)])
        #expect(press("lnone\r", &keys) == [.limit(nil)])
        #expect(press("lmuch\r", &keys) == [])
        #expect(lines(keys) == ["give a speed such as 500k, 2M, 1.5GiB or none"])
        // Escape ends the line, and its letters are no keys.
        #expect(press("lp\u{1B}", &keys) == [] && keys.page == .nothing)
    }

    @Test("i shows the details of each download in turn, and an answer for other details is dropped")
    func details() {
        var keys = ProgressKeys()
        #expect(press("i", &keys) == [.show(4)])
        #expect(!keys.show(["seven"], of: 7) && keys.show(["four", "long"], of: 4))
        #expect(lines(keys) == ["four", "long"])
        #expect(lines(keys, columns: 4) == ["fo…", "lo…"] && lines(keys, height: 1) == ["four"])
        #expect(lines(keys, height: -3) == [])
        #expect(press("i", &keys) == [.show(7)])
        #expect(press("i", &keys) == [] && keys.page == .nothing)
        // The download has ended meanwhile.
        #expect(press("i", &keys) == [.show(4)])
        #expect(keys.press([.character("i")], [7]) == [] && keys.page == .nothing)
        #expect(keys.press([.character("i")], []) == [] && keys.page == .nothing)
    }

    @Test("? shows all keys, and another letter says so")
    func help() {
        var keys = ProgressKeys()
        #expect(press("x", &keys) == [])
        #expect(lines(keys) == ["? shows the keys"])
        #expect(press("?", &keys) == [])
        #expect(lines(keys).map { $0.prefix { $0 != " " } } == ["p", "l", "b", "i", "?", "Ctrl-C"])
        #expect(lines(keys, columns: 20).allSatisfy { DisplayWidth.of($0) < 20 })
        #expect(press("?", &keys) == [] && lines(keys) == [])
    }

    @Test("A paste is never read as keys, with or without bracketed paste")
    func paste() {
        var keys = ProgressKeys()
        #expect(keys.press([.paste("b")], [4]) == [])
        #expect(keys.press([.character("b"), .character("p"), .enter], [4]) == [])
        #expect(keys == ProgressKeys())
        _ = press("l", &keys)
        #expect(keys.press([.paste("2M\nb")], [4]) == [])
        #expect(keys.press([.enter], [4]) == [.limit(2 << 20)])
    }

    @Test("Messages of servers cannot change the terminal or show secrets")
    func hostile() {
        var keys = ProgressKeys()
        keys.say("bad\u{1B}[2J http://me:secret@a/")
        #expect(lines(keys) == ["bad\\x1b[2J http://***@a/"])
    }
}
