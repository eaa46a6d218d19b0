import DownloadCore
import Foundation
import GRDB

/// The rows with the knowledge about servers. Values that no download can have learned are ignored.
struct KnowledgeRows {
    let db: Database

    func knowledge<Knowledge: ServerKnowledge>(of place: String) throws -> Knowledge? {
        guard try hasTable else { return nil }
        let sql = "SELECT value FROM knowledge WHERE kind = ? AND place = ?"
        return Self.believable(try db.value(sql, [Knowledge.kind, place]))
    }

    /// Returns the knowledge of one kind, by place.
    func all<Knowledge: ServerKnowledge>() throws -> [String: Knowledge] {
        guard try hasTable else { return [:] }
        let rows = try db.rows("SELECT place, value FROM knowledge WHERE kind = ?", [Knowledge.kind])
        var all: [String: Knowledge] = [:]
        while let row = try rows.next() {
            if let place = String.fromDatabaseValue(row[0]) { all[place] = Self.believable(.fromDatabaseValue(row[1])) }
        }
        return all
    }

    func learn<Knowledge: ServerKnowledge>(of place: String, _ change: (Knowledge?) -> Knowledge?) throws {
        guard let value = change(try knowledge(of: place)) else { return }
        let learned = value.learned.timeIntervalSince1970 * 1000
        try db.run(Schema.knowledge)
        try db.run(
            "INSERT OR REPLACE INTO knowledge (kind, place, value, learned) VALUES (?, ?, ?, ?)",
            [Knowledge.kind, place, JSONText.encode(value), learned])
        try db.run(
            """
            DELETE FROM knowledge WHERE kind = ? AND (learned < ? OR place NOT IN
                (SELECT place FROM knowledge WHERE kind = ? ORDER BY learned DESC, place LIMIT ?))
            """, [Knowledge.kind, learned - Knowledge.lifetime * 1000, Knowledge.kind, Knowledge.mostKept])
    }

    private var hasTable: Bool {
        get throws {
            try db.row("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'knowledge'") != nil
        }
    }

    private static func believable<Knowledge: ServerKnowledge>(_ text: String?) -> Knowledge? {
        text.flatMap { try? JSONText.decode(Knowledge.self, $0) }.flatMap { $0.isBelievable ? $0 : nil }
    }
}
