import DownloadCore
import Foundation
import GRDB

/// The knowledge about folders of servers. Only the newest rows are kept. The names are separated by line feeds. The
/// table is made for the first row, so stores of older programs have none.
struct FolderRows {
    let db: Database

    private static let foldersKept = 500

    func knowledge(of folder: String) throws -> FolderKnowledge? {
        guard try db.row("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'folder'") != nil,
            let row = try db.row("SELECT missing, learned FROM folder WHERE url = ?", [folder]),
            let missing = String.fromDatabaseValue(row[0]), let learned = Int64.fromDatabaseValue(row[1])
        else { return nil }
        return FolderKnowledge(
            missing: Set(missing.split(separator: "\n").map(String.init)), learned: DownloadRow.date(learned))
    }

    func learn(_ knowledge: FolderKnowledge, of folder: String) throws {
        try db.run(
            """
            CREATE TABLE IF NOT EXISTS folder (url TEXT PRIMARY KEY, missing TEXT NOT NULL, learned INTEGER NOT NULL)
                WITHOUT ROWID
            """, [])
        let learned = DownloadRow.milliseconds(knowledge.learned)
        try db.run(
            "INSERT OR REPLACE INTO folder (url, missing, learned) VALUES (?, ?, ?)",
            [folder, knowledge.missing.sorted().joined(separator: "\n"), learned])
        try db.run(
            """
            DELETE FROM folder WHERE learned < ? OR url NOT IN
                (SELECT url FROM folder ORDER BY learned DESC, url LIMIT \(Self.foldersKept))
            """, [learned - Int64(FolderKnowledge.lifetime * 1000)])
    }
}
