import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Many small files", .serialized, .timeLimit(.minutes(3)))
    struct ListFileTests {
        static let count = 5000
        static let size: Int64 = 16 << 10

        @Test("5,000 files of 16 KiB are all right, in less than 64 MiB of memory")
        func thousands() async throws {
            try await withNginx { sandbox, nginx in
                let contents = (0..<Self.count).map { Content(seed: UInt64($0), size: Self.size) }
                for (index, content) in contents.enumerated() { try nginx.add(content, as: "f\(index)") }
                let list = (0..<Self.count).map { nginx.url("/f\($0)") }.joined(separator: "\n")
                try sandbox.root.write(list, to: "list.txt")
                let result = try await sandbox.perform("get", "-i", sandbox.root("list.txt"), "-d", "many") {
                    $0.watchesMemory = true
                    $0.timeLimit = .seconds(120)
                }
                #expect(result.ending == .exited(0), "\(result.stderr.prefix(2000))")
                #expect(result.outputLines.count == Self.count)
                #expect(result.peakResident > 0 && result.peakResident < 64 * mebibyte)
                #expect(sandbox.root.names(in: "files/many").count == Self.count)
                for (index, content) in contents.enumerated() {
                    let file = sandbox.file("many/f\(index)")
                    try #require(FileManager.default.contents(atPath: file) == Data(content.bytes(0..<Self.size)))
                }
                print("5,000 files: \(result.duration), \(result.peakResident >> 20) MiB")
            }
        }

        @Test("A list over HTTP/2 shares connections")
        func multiplexed() async throws {
            try await withNginx { sandbox, nginx in
                let contents = (0..<300).map { Content(seed: UInt64($0), size: Self.size) }
                for (index, content) in contents.enumerated() { try nginx.add(content, as: "f\(index)") }
                let list = (0..<300).map { nginx.secureURL("/f\($0)") }.joined(separator: "\n")
                let result = try await sandbox.perform("get", "--insecure", "-i", "-") { $0.input = list }
                #expect(result.ending == .exited(0), "\(result.stderr.prefix(2000))")
                for (index, content) in contents.enumerated() { try expectFile(content, "f\(index)", in: sandbox) }
                #expect(await nginx.waitUntil { $0.count >= 300 })
                // The last files of a list have no other files to share a connection with.
                #expect(nginx.log.filter { $0.version == "HTTP/2.0" }.count >= 290)
            }
        }
    }
}
