import DownloadTestSupport
import Testing

@testable import DownloadCore
@testable import DownloadEngine

@Suite("RequestBudget: requests that fetch almost nothing", .inTurn)
struct RequestBudgetTests {
    private static let progress = RequestBudget.leastProgress

    @Test(
        "A request makes progress if it fetches all requested bytes, or enough of them",
        arguments: [
            (0, 1, false), (1, 1, true), (1, 2, false), (progress - 1, progress, false), (progress, .max, true),
            (progress, progress, true), (0, progress, false), (-5, 10, false),
        ] as [(Int64, Int64, Bool)])
    func countsProgress(brought: Int64, asked: Int64, isProgress: Bool) {
        var budget = RequestBudget(limit: 1)
        #expect(budget.ended(brought: brought, of: asked) == isProgress)
        #expect(budget.isExhausted == !isProgress)
    }

    @Test(
        "The budget is exhausted after the limit of fruitless requests, and after one if the limit is zero",
        arguments: [0, 1, 5])
    func limit(limit: Int) {
        var budget = RequestBudget(limit: limit)
        for count in 1...max(1, limit) {
            #expect(!budget.isExhausted)
            budget.ended(brought: 0, of: 10)
            #expect(budget.isExhausted == (count == max(1, limit)))
        }
    }

    @Test("A request with progress restores one request, and no more than were spent")
    func givesBack() {
        var budget = RequestBudget(limit: 2)
        for _ in 0..<10 { budget.ended(brought: 10, of: 10) }
        for _ in 0..<2 { budget.ended(brought: 0, of: 10) }
        #expect(budget.isExhausted)
        budget.ended(brought: 10, of: 10)
        #expect(!budget.isExhausted)
        budget.ended(brought: 0, of: 10)
        #expect(budget.isExhausted)
    }
}
