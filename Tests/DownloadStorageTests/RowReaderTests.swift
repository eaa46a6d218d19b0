import DownloadTestSupport
import Testing

@testable import DownloadStorage

@Suite(.inTurn) struct RowReaderTests {
    @Test func everyColumnIsAskedForInItsPlace() {
        #expect(RowReader.columns == RowReader.Column.allCases.map { "\($0)" }.joined(separator: ", "))
    }
}
