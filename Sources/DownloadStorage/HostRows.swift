import DownloadCore
import Foundation
import GRDB

/// The host profiles that downloads have learned. Only the newest profiles are kept. A profile with values that no
/// download can have measured is ignored.
struct HostRows {
    let db: Database

    private static let hostsKept = 500

    func knowledge(of origin: String) throws -> HostKnowledge? {
        let statement = try db.cachedStatement(sql: "SELECT best, cap, learned FROM host WHERE origin = ?")
        return try Row.fetchOne(statement, arguments: [origin]).flatMap(Self.profile)
    }

    func learn(_ knowledge: HostKnowledge, of origin: String) throws {
        let learned = DownloadRow.milliseconds(knowledge.learned)
        let oldest = learned - Int64(HostKnowledge.lifetime * 1000)
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

    private static func profile(_ row: Row) -> HostKnowledge? {
        guard let best = Int.fromDatabaseValue(row[0]), HostKnowledge.believable.contains(best),
            let learned = Int64.fromDatabaseValue(row[2])
        else { return nil }
        let stored: DatabaseValue = row[1]
        let cap = Int.fromDatabaseValue(stored)
        guard stored.isNull || cap.map(HostKnowledge.believable.contains) ?? false else { return nil }
        return HostKnowledge(best: best, cap: cap, learned: DownloadRow.date(learned))
    }
}
