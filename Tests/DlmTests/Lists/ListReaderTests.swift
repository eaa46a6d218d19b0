import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("dlm: the parts in which a list is read")
struct ListReaderTests {
    @Test("The first parts are short, later parts are longer, and no line is lost", arguments: [1, 499, 40_000])
    func parts(count: Int) async throws {
        let folder = try TemporaryFolder()
        try folder.write((0..<count).map { "http://h/\($0)\n" }.joined(), to: "list")
        let reader = ListReader(try InputList(path: folder("list")))
        var lines: [InputList.Line] = []
        var sizes: [Int] = []
        while let part = try await reader.next() {
            lines += part
            sizes.append(part.count)
        }
        #expect(lines.map(\.text) == (0..<count).map { "http://h/\($0)" })
        #expect(lines.map(\.position) == Array(0..<count))
        #expect(sizes.dropLast().first ?? 500 == 500)
        #expect(sizes.dropLast() == sizes.dropLast().sorted()[...])
        #expect(count < 20_000 || sizes.dropLast().last ?? 0 > 2_000)
    }
}
