import DownloadCore

/// Downloads to add that differ only in their URLs. Each URL occurs only once.
struct AddedRun {
    let run: RequestList.Run
    let urls: [SourceURL]
    /// The hashes of the URLs; see ``URLHash``.
    let hashes: [Int64]

    /// Divides the requests into runs, in order.
    static func runs(of requests: RequestList) -> [AddedRun] {
        requests.runs.flatMap { run -> [AddedRun] in
            let hashes = run.urls.map { URLHash.of($0.string) }
            var starts = [0]
            // Two different URLs with the same hash divide the run, too, which does no harm.
            var known = Set<Int64>(minimumCapacity: hashes.count)
            for (index, hash) in hashes.enumerated() where !known.insert(hash).inserted {
                starts.append(index)
                known = [hash]
            }
            if starts.count == 1 { return [AddedRun(run: run, urls: run.urls, hashes: hashes)] }
            return zip(starts, starts.dropFirst() + [hashes.count]).map { start, end in
                AddedRun(run: run, urls: Array(run.urls[start..<end]), hashes: Array(hashes[start..<end]))
            }
        }
    }

    /// The request that the downloads share. Its URL may be the URL of a download outside of this run.
    var request: DownloadRequest { run.request }

    func filter(_ condition: (Int) -> Bool) -> AddedRun {
        let others = urls.indices.filter(condition)
        return AddedRun(run: run, urls: others.map { urls[$0] }, hashes: others.map { hashes[$0] })
    }
}
