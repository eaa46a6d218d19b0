import DownloadCore

/// A list of ids in a query, such as `1,5-8`.
enum IDList {
    static func parse(_ text: String, atMost limit: Int) throws(WireProblem) -> [DownloadID] {
        var ids: [DownloadID] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { DownloadID($0) }
            guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], 0 < first, first <= last else {
                throw WireProblem("ids: \(part) is neither an id nor a range")
            }
            guard first.distance(to: last) < limit - ids.count else {
                throw WireProblem("ids: give at most \(limit)")
            }
            ids += first...last
        }
        return ids
    }
}
