import ArgumentParser
import DownloadCore
import DownloadTestSupport
import Foundation
import Glibc
import Synchronization

@testable import dlm

/// A console whose output can be read. Neither stream is a terminal.
final class CapturedConsole: Sendable {
    let console: Console
    private let outputFile: Int32
    private let errorsFile: Int32

    init() throws {
        outputFile = try TemporaryFolder.unnamedFile()
        errorsFile = try TemporaryFolder.unnamedFile()
        console = Console(output: outputFile, errors: errorsFile)
    }

    deinit {
        close(outputFile)
        close(errorsFile)
    }

    var output: String { Self.text(outputFile) }
    var errors: String { Self.text(errorsFile) }
    var outputLines: [String] { output.split(separator: "\n").map(String.init) }
    var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

    /// Waits until standard error contains the text.
    func waitForErrors(_ text: String) async throws { try await wait { $0.errors.contains(text) } }

    /// Waits until standard output contains the text.
    func waitForOutput(_ text: String) async throws { try await wait { $0.output.contains(text) } }

    private func wait(until holds: (CapturedConsole) -> Bool) async throws {
        while !holds(self) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private static func text(_ descriptor: Int32) -> String {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Context {
    /// Returns a context in which a fake service replaces the session.
    static func testing(_ captured: CapturedConsole, _ service: FakeService) -> Context {
        Context(
            console: captured.console, signals: Signals(),
            environment: ["XDG_STATE_HOME": "/tmp/dlm-tests-state", "TERM": "dumb"], workingFolder: "/",
            open: { configuration, _, _ in
                service.state.withLock { $0.configuration = configuration }
                return service
            },
            fate: { _ in nil })
    }
}

/// Runs a command line against a fake service.
func run(
    _ arguments: [String], _ service: FakeService, on captured: CapturedConsole? = nil,
    _ change: (inout Context) -> Void = { _ in }
) async throws -> (status: Int32, captured: CapturedConsole) {
    let captured = try captured ?? CapturedConsole()
    var context = Context.testing(captured, service)
    change(&context)
    do {
        return (await context.status(of: try DLM.command(arguments)), captured)
    } catch {
        return (UsageReport(error).print(on: captured.console), captured)
    }
}
