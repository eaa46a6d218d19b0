import DownloadTestSupport
import GRDB
import Testing

@testable import DownloadStorage

@Suite(.inTurn) struct RowReaderTests {
    @Test func everyColumnIsAskedFor() throws {
        let folder = try TemporaryFolder()
        let count = try folder.open().database.read { db in
            try db.makeStatement(sql: "SELECT \(StoredColumns.all) FROM \(StoredColumns.downloads)").columnCount
        }
        #expect(count == RowReader.Column.allCases.count)
    }
}
