import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Lists of URLs", .inTurn, .serialized)
struct LineSplitterTests {
    func lines(_ text: String, by size: Int) -> [InputList.Line] {
        var splitter = LineSplitter()
        let bytes = Array(text.utf8)
        var lines: [InputList.Line] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            lines += splitter.split(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        return lines + splitter.end()
    }

    @Test("Blank lines and comments count in line numbers, but are not returned", arguments: [1, 2, 7, 1000])
    func numbering(size: Int) {
        let text = "\u{FEFF}# list\n\nhttp://a/\r\n  # more\n\thttp://b/ü  \n   \nhttp://c/"
        #expect(
            lines(text, by: size) == [
                InputList.Line(number: 3, text: "http://a/"), InputList.Line(number: 5, text: "\thttp://b/ü"),
                InputList.Line(number: 7, text: "http://c/"),
            ])
    }

    @Test("An empty list has no lines")
    func empty() {
        #expect(lines("", by: 1) == [])
        #expect(lines("\n\n#\n", by: 2) == [])
    }

    @Test("A line of a million characters is returned whole")
    func longLine() {
        let line = "http://a/" + String(repeating: "x", count: 1_000_000)
        #expect(lines(line + "\nhttp://b/\n", by: 65536).map(\.text) == [line, "http://b/"])
    }
}
