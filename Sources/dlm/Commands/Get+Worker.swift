import ArgumentParser
import DownloadKit

/// The part of `get` for one of many workers that share a list of URLs.
extension Get {
    func validateWorker() throws {
        if worker.shard != nil, inputFile == nil {
            throw ValidationError("--shard divides the URLs of a list; give one with -i")
        }
        if background, worker.manifest != nil || worker.maxFailures != nil {
            let option = worker.manifest == nil ? "--max-failures" : "--manifest"
            throw ValidationError("\(option) is only for downloads that this command waits for; leave out -b")
        }
        if worker.nameBy != nil {
            if item.place.output != nil { throw ValidationError("-o and --name-by both name the file; give one") }
            if metalinkFile != nil {
                throw ValidationError("--name-by: the document of -M names the files; leave out --name-by")
            }
            if worker.nameBy == .number, inputFile == nil || !urls.isEmpty {
                throw ValidationError("--name-by number counts the URLs of a list; give them all with -i")
            }
        }
        if worker.perHostRate != nil, item.attempts.wait != nil {
            throw ValidationError("--wait and --per-host-rate exclude each other; give one")
        }
        if background, worker.state != nil {
            throw ValidationError("--state is for downloads of this command; with -b set XDG_STATE_HOME")
        }
        if worker.store != nil {
            guard background else {
                throw ValidationError("--store only adds URLs to a queue; give -b, too, or use the command dlm work")
            }
            if worker.nameBy == .number {
                throw ValidationError(
                    "--name-by number: two lists in a queue would have the same names; give url or hash")
            }
            if metalinkFile != nil { throw ValidationError("--store and -M exclude each other; give the URLs") }
        }
        if streams, worker.manifest != nil {
            throw ValidationError("-o -: there is no file to record; leave out --manifest")
        }
    }

    /// Opens the manifest. Returns nil without `--manifest` and `--max-failures`.
    func workerRun(_ filter: ShardFilter?, in context: Context) throws -> WorkerRun? {
        guard worker.manifest != nil || worker.maxFailures != nil else { return nil }
        return try WorkerRun(
            manifest: worker.manifest, hashes: worker.manifestDigest, ManifestRule(retriesFailed: worker.retryFailed),
            filter, limit: worker.maxFailures, time: context.time)
    }

    /// Returns the list of `-i`, or with a filter this worker's part of the list. Returns nil without `-i`.
    func list(_ filter: ShardFilter?, _ maker: RequestMaker, in context: Context) throws -> ListReader? {
        guard let inputFile else { return nil }
        let isURL = ListDownload.isURL(inputFile)
        let list = isURL ? try ListDownload.begin(inputFile, maker, in: context) : try InputList(path: inputFile)
        return ListReader(list, filter)
    }
}
