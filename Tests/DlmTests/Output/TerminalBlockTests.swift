import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The block at the bottom of the terminal", .inTurn, .serialized)
struct TerminalBlockTests {
    @Test("The block is overwritten in place, ends with the cursor below it, and never hides the cursor")
    func redraw() {
        var block = TerminalBlock()
        #expect(block.draw(["one", "two"], columns: 80) == "one\u{1B}[K\ntwo\u{1B}[K\n")
        #expect(block.draw(["ONE", "TWO"], columns: 80) == "\r\u{1B}[2AONE\u{1B}[K\nTWO\u{1B}[K\n")
    }

    @Test("A block with fewer lines clears the remaining old lines")
    func shrink() {
        var block = TerminalBlock()
        _ = block.draw(["one", "two"], columns: 80)
        #expect(block.draw(["x"], columns: 80) == "\r\u{1B}[2Ax\u{1B}[K\n\u{1B}[J")
        #expect(block.draw([], columns: 80) == "\r\u{1B}[1A\u{1B}[J")
        #expect(block.isEmpty)
    }

    @Test("A text above the block erases the block and draws it again")
    func insert() {
        var block = TerminalBlock()
        _ = block.draw(["one"], columns: 80)
        let (before, after) = block.around(columns: 80)
        #expect(before == "\r\u{1B}[1A\u{1B}[J")
        #expect(after == "one\u{1B}[K\n")
        #expect(!block.isEmpty)
    }

    @Test("An empty block needs nothing around a text")
    func empty() {
        var block = TerminalBlock()
        #expect(block.around(columns: 80) == ("", ""))
        #expect(block.erase(columns: 80) == "")
    }

    @Test("If a narrower terminal breaks the lines, all of them are erased")
    func narrower() {
        var block = TerminalBlock()
        _ = block.draw([String(repeating: "x", count: 70), "short"], columns: 80)
        #expect(block.draw(["new"], columns: 30) == "\r\u{1B}[4A\u{1B}[Jnew\u{1B}[K\n")
    }

    @Test("A wider terminal does not break lines")
    func wider() {
        var block = TerminalBlock()
        _ = block.draw(["one", "two"], columns: 30)
        #expect(block.draw(["new"], columns: 80) == "\r\u{1B}[2A\u{1B}[Jnew\u{1B}[K\n")
    }
}
