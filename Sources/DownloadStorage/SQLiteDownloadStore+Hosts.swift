import DownloadCore
import Foundation
import GRDB

/// The host profiles that downloads have learned. Only the newest profiles are kept. A profile with values that no
/// download can have measured is ignored.
extension SQLiteDownloadStore {
    private static let hostsKept = 500

    package func knowledge(ofHost origin: String) async throws -> HostKnowledge? {
        try await perform { db in
            let statement = try db.cachedStatement(sql: "SELECT best, cap, learned FROM host WHERE origin = ?")
            return try Row.fetchOne(statement, arguments: [origin]).flatMap(Self.knowledge)
        }
    }

    package func learn(_ knowledge: HostKnowledge, ofHost origin: String) async throws {
        let learned = DownloadRow.milliseconds(knowledge.learned)
        let oldest = learned - Int64(HostKnowledge.lifetime * 1000)
        try await write { db in
            try db.cachedStatement(
                sql: "INSERT OR REPLACE INTO host (origin, best, cap, learned) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [origin, knowledge.best, knowledge.cap, learned])
            try db.cachedStatement(
                sql: """
                    DELETE FROM host WHERE learned < ? OR origin NOT IN
                        (SELECT origin FROM host ORDER BY learned DESC, origin LIMIT \(Self.hostsKept))
                    """
            ).execute(arguments: [oldest])
        }
    }

    private static func knowledge(_ row: Row) -> HostKnowledge? {
        guard let best = Int.fromDatabaseValue(row[0]), HostKnowledge.believable.contains(best),
            let learned = Int64.fromDatabaseValue(row[2])
        else { return nil }
        let stored: DatabaseValue = row[1]
        let cap = Int.fromDatabaseValue(stored)
        guard stored.isNull || cap.map(HostKnowledge.believable.contains) ?? false else { return nil }
        return HostKnowledge(best: best, cap: cap, learned: DownloadRow.date(learned))
    }
}
