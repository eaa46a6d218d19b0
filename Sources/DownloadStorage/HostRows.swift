import DownloadCore
import GRDB

/// The host profiles that downloads have learned. Only the newest profiles are kept. A profile with values that no
/// download can have measured is ignored.
struct HostRows {
    let db: Database

    private static let hostsKept = 500

    func knowledge(of origin: String) throws -> HostKnowledge? {
        guard let row = try db.row("SELECT best, cap, learned FROM host WHERE origin = ?", [origin]),
            let best = Int.fromDatabaseValue(row[0]), HostKnowledge.believable.contains(best),
            let learned = Int64.fromDatabaseValue(row[2])
        else { return nil }
        let cap = Int.fromDatabaseValue(row[1])
        guard row.hasNull(atIndex: 1) || cap.map(HostKnowledge.believable.contains) ?? false else { return nil }
        return HostKnowledge(best: best, cap: cap, learned: DownloadRow.date(learned))
    }

    func learn(_ knowledge: HostKnowledge, of origin: String) throws {
        let learned = DownloadRow.milliseconds(knowledge.learned)
        try db.run(
            "INSERT OR REPLACE INTO host (origin, best, cap, learned) VALUES (?, ?, ?, ?)",
            [origin, knowledge.best, knowledge.cap, learned])
        try db.run(
            """
            DELETE FROM host WHERE learned < ? OR origin NOT IN
                (SELECT origin FROM host ORDER BY learned DESC, origin LIMIT \(Self.hostsKept))
            """, [learned - Int64(HostKnowledge.lifetime * 1000)])
    }
}
