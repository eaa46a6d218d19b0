import DownloadTestSupport
import Foundation
import Synchronization
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("DiskWriter and BufferPool", .inTurn, .timeLimit(.minutes(1)))
struct DiskWriterTests {
    @Test("Writes are done in order, then the work that waits for them; each buffer returns to the pool")
    func order() async throws {
        let bench = try WriterBench(buffers: 3)
        let file = try bench.file()
        let steps = Mutex<[String]>([])
        file.notifyWrites { steps.withLock { $0.append("write") } }
        for value in 1...3 {
            let buffer = try #require(bench.disk.pool.take {})
            buffer.bytes.storeBytes(of: UInt8(value), as: UInt8.self)
            bench.disk.write(buffer, count: 1, to: file, at: Int64(value))
        }
        bench.disk.afterWrites { steps.withLock { $0.append("after") } }
        try await bench.disk.onWriter { steps.withLock { $0.append("on") } }
        await bench.disk.afterWrites()
        #expect(steps.withLock { $0 } == ["write", "write", "write", "after", "on"])
        #expect(try file.read(1..<4) == [1, 2, 3])
        #expect(bench.poolIsWhole())
    }

    @Test("Work that is given to `soon` comes after the writes before it, however busy the disk is")
    func soon() async {
        let time = ManualTime()
        let disk = DiskWriter(pool: BufferPool(), time: time)
        let steps = Mutex<[String]>([])
        let busy = DispatchSemaphore(value: 0)
        disk.afterWrites { busy.wait() }
        disk.soon { steps.withLock { $0.append("first") } }
        // The work is now in the queue, behind the task that keeps the disk busy.
        time.advance(by: .milliseconds(20))
        disk.afterWrites { steps.withLock { $0.append("write") } }
        disk.soon { steps.withLock { $0.append("second") } }
        busy.signal()
        await disk.afterWrites()
        await disk.afterWrites()
        #expect(steps.withLock { $0 } == ["write", "first", "second"])
    }

    @Test("An error on the writer's thread is thrown to the caller")
    func error() async throws {
        let bench = try WriterBench()
        await #expect(throws: DownloadError.cancelled) {
            try await bench.disk.onWriter { () throws(DownloadError) in throw .cancelled }
        }
    }

    @Test("`syncSoon` makes the written bytes of a file durable")
    func syncSoon() async throws {
        let bench = try WriterBench()
        let file = try bench.file()
        let buffer = try #require(bench.disk.pool.take {})
        bench.disk.write(buffer, count: 10, to: file, at: 0)
        await bench.disk.afterWrites()
        await withCheckedContinuation { continuation in bench.disk.syncSoon(file) { continuation.resume() } }
        #expect(file.durable == ByteRanges([0..<10]))
    }

    @Test("The pool makes as many buffers as permitted, and hands returned buffers out again")
    func pool() throws {
        let pool = BufferPool(capacity: 2)
        let first = try #require(pool.take {})
        let second = try #require(pool.take {})
        #expect(first.bytes != second.bytes)
        let woken = Observed(0)
        #expect(pool.take { woken.update { $0 += 1 } } == nil)
        pool.give(first)
        #expect(woken.value == 1)
        #expect(pool.take {}?.bytes == first.bytes)
        pool.give(first)
        pool.give(second)
        #expect(woken.value == 1)
    }

    @Test("Waiting tasks are woken in turn, one for each buffer; an unused turn goes to the next")
    func turns() throws {
        let pool = BufferPool(capacity: 1)
        let held = try #require(pool.take {})
        let woken = Mutex<[Int]>([])
        for number in 0..<3 {
            _ = pool.take { woken.withLock { $0.append(number) } }
        }
        pool.wakeOne()
        #expect(woken.withLock { $0 } == [])
        pool.give(held)
        #expect(woken.withLock { $0 } == [0])
        pool.wakeOne()
        #expect(woken.withLock { $0 } == [0, 1])
        _ = pool.take {}
        pool.wakeOne()
        #expect(woken.withLock { $0 } == [0, 1])
        pool.give(held)
        #expect(woken.withLock { $0 } == [0, 1, 2])
    }

    @Test("A task that was woken is released, even while another task waits at all times")
    func releasesWoken() throws {
        /// A value of which the test counts the copies in memory.
        final class Waiter: Sendable {
            let count: Observed<Int>
            init(_ count: Observed<Int>) {
                self.count = count
                count.update { $0 += 1 }
            }
            deinit { count.update { $0 -= 1 } }
        }
        let pool = BufferPool(capacity: 1)
        let held = try #require(pool.take {})
        let waiting = Observed(0)
        let wait = { (waiter: Waiter) in _ = pool.take { withExtendedLifetime(waiter) {} } }
        wait(Waiter(waiting))
        for _ in 0..<100 {
            wait(Waiter(waiting))
            pool.give(held)
            #expect(pool.take {}?.bytes == held.bytes)
        }
        #expect(waiting.value <= 4)
    }

    @Test("A woken task may take the buffer at once")
    func takeWhenWoken() throws {
        let pool = BufferPool(capacity: 1)
        let held = try #require(pool.take {})
        let taken = Mutex<PoolBuffer?>(nil)
        _ = pool.take { taken.withLock { $0 = pool.take {} } }
        pool.give(held)
        #expect(taken.withLock { $0 }?.bytes == held.bytes)
    }
}
