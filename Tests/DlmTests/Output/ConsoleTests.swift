import Glibc
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("The console", .inTurn, .serialized)
struct ConsoleTests {
    @Test("Data goes to standard output, and messages go to standard error")
    func streams() throws {
        let captured = try CapturedConsole()
        captured.console.print("data")
        captured.console.print(path: "/tmp/new\nline")
        captured.console.report("bad \u{1B}[2J news")
        #expect(captured.output == "data\n/tmp/new\nline\n")
        #expect(captured.errors == "dlm: bad \\x1b[2J news\n")
        #expect(captured.console.finish(0) == 0)
    }

    @Test("If the reader of the output is gone, this is not an error, and nothing more is written")
    func closed() {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        let console = Console(output: ends[1], errors: ends[1])
        console.print("data")
        #expect(console.finish(0) == 0)
        #expect(console.finish(4) == 4)
        close(ends[1])
    }

    @Test("If a line cannot be written, the command fails")
    func full() {
        let device = open("/dev/full", O_WRONLY)
        defer { close(device) }
        let console = Console(output: device, errors: device)
        console.print("data")
        #expect(console.finish(0) == 3)
        #expect(console.finish(8) == 8)
    }

    @Test("A line above the block erases the block and draws it again")
    func block() throws {
        let captured = try CapturedConsole()
        captured.console.draw(["one"])
        captured.console.report("news")
        captured.console.keepBlock()
        captured.console.draw(["two"])
        captured.console.clearBlock()
        #expect(
            captured.errors == """
                one\u{1B}[K
                \r\u{1B}[1A\u{1B}[Jdlm: news
                one\u{1B}[K
                \r\u{1B}[Ktwo\u{1B}[K
                \r\u{1B}[1A\u{1B}[J
                """)
    }
}
