import DownloadCore
import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import dlm

@Suite("First use", .inTurn, .serialized)
struct FirstUseTests {
    @Test("dlm without arguments says how to begin if there are no downloads")
    func hint() async throws {
        let (status, captured) = try await run([], FakeService())
        #expect(status == 0 && captured.output == "")
        #expect(captured.errorLines == Overview.hint && Overview.hint.count == 3)
    }

    @Test("dlm without arguments lists the downloads, as dlm list does")
    func list() async throws {
        let service = FakeService()
        service.state.withLock { $0.records[3] = .example(state: .running) }
        let (status, alone) = try await run([], service)
        let (_, listed) = try await run(["list"], service)
        #expect(status == 0 && alone.output == listed.output && alone.outputLines.count == 2)
        #expect(alone.errors == "")
    }

    @Test("Each tip is printed once in the life of a store")
    func once() throws {
        let folder = try TemporaryFolder()
        for tip in Tip.allCases {
            #expect(tip.isFirst(in: folder.path))
            #expect(!tip.isFirst(in: folder.path))
        }
        #expect(!Tip.follow.isFirst(in: folder.path) && !Tip.background.isFirst(in: folder.path))
        #expect(!Tip.follow.isFirst(in: folder("nowhere")))
    }

    @Test("After a success, a tip is printed if the downloads are in the background or the command ran long")
    func due() {
        #expect(Tip.due(afterSeconds: 1, inBackground: true, status: 0) == .follow)
        #expect(Tip.due(afterSeconds: 60, inBackground: false, status: 0) == .background)
        #expect(Tip.due(afterSeconds: 59, inBackground: false, status: 0) == nil)
        #expect(Tip.due(afterSeconds: 60, inBackground: true, status: 4) == nil)
    }
}
