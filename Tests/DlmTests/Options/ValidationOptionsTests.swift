import ArgumentParser
import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Validation and retry options", .inTurn, .serialized)
struct ValidationOptionsTests {
    private func request(_ arguments: String...) throws -> DownloadRequest {
        let command = try #require(try DLM.command(["get", "http://h.example/a"] + arguments) as? Get)
        return try RequestMaker(command, workingFolder: "/nowhere").request("http://h.example/a")
    }

    @Test("Without options the defaults stay")
    func plain() throws {
        let plain = try request()
        #expect(plain.validation == ResponseValidation())
        #expect(plain.retry.statuses == nil && plain.timeouts.total == nil && !plain.startsPaused)
        #expect(plain.destination.takesServerName && !plain.destination.keepsRemoteTime)
        #expect(!plain.destination.continues)
    }

    @Test("Types are given one by one or separated by commas")
    func types() throws {
        let types = try request("--expect-type", "image/*, Application/ZIP", "--expect-type", "a/b").validation.types
        #expect(types.map(\.description) == ["image/*", "application/zip", "a/b"])
    }

    @Test("Statuses, sizes, times and flags are read")
    func others() throws {
        let request = try request(
            "--expect-status", "200,203", "--max-size", "1.5k", "--retry-on", "403,520-529", "--max-time", "2m",
            "--paused", "--no-content-disposition", "--remote-time", "-c")
        #expect(request.validation.statuses?.description == "200,203")
        #expect(request.validation.maximumSize == 1536)
        #expect(request.retry.statuses?.description == "403,520-529")
        #expect(request.timeouts.total == .seconds(120))
        #expect(request.startsPaused && !request.destination.takesServerName && request.destination.keepsRemoteTime)
        #expect(request.destination.continues)
    }

    @Test(
        "Invalid values and combinations are refused",
        arguments: [
            ["--expect-type", "zip"], ["--expect-type", "a/b,"], ["--expect-type", ""], ["--expect-status", "x"],
            ["--expect-status", "302"], ["--expect-status", "100-200"], ["--max-size", "big"], ["--max-size", "-1"],
            ["--retry-on", "4xx"], ["--retry-on", ""], ["--max-time", "0"], ["--max-time", "soon"],
            ["--paused", "--ephemeral"], ["-c", "--if-exists", "overwrite"], ["--unpack", "d", "-b"],
            ["--unpack", "d", "--json"], ["--unpack", "d", "-o", "-"], ["--unpack", "d", "-d", "e"],
            ["--unpack", "d", "--if-exists", "skip"], ["--unpack", "d", "-i", "list"], ["--unpack", "d", "http://h/b"],
            ["--unpack", "d", "--on-complete", "true"], ["--unpack", "d", "--manifest", "m"],
        ])
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try DLM.command(["get", "http://h.example/a"] + arguments) }
    }

    @Test(
        "A size in an option has the form of a speed, such as 500k",
        arguments: [("0", 0), ("7", 7), ("500k", 512_000), ("2MiB", 2 << 20)])
    func sizes(text: String, bytes: Int64) throws {
        #expect(try ByteSize(argument: text).bytes == bytes)
    }
}
