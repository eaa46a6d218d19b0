import DownloadControl
import DownloadCore
import Foundation

extension Aria2Session {
    /// Handles `addUri([uri, …], options, position)`. All URIs are sources of the same file.
    func addURI(_ parameters: Parameters) async throws -> JSONValue {
        let texts = try parameters.list(0).compactMap(\.text)
        guard !texts.isEmpty else { throw RPCError("URI is not provided.") }
        let options = try parameters.optionalFields(1)
        let position = try parameters.position(2)
        let urls = try texts.map(Self.url)
        let draft = try draft(options, url: urls[0].url)
        let gid = try await add(try draft.request(urls), draft, options)
        if let position { try await move(gid, position, .start, isNew: true) }
        return .text(gid)
    }

    static func url(_ text: String) throws(RPCError) -> (url: SourceURL, credential: Credential?) {
        if text.hasPrefix("magnet:") { throw noBitTorrent }
        do { return try SourceURL.given(text) } catch { throw RPCError(error) }
    }

    static let noBitTorrent = RPCError(
        "BitTorrent is not supported: give a URL of http, https, ftp, ftps or sftp.")

    func draft(_ options: [String: JSONValue], url: SourceURL) throws(RPCError) -> Aria2Draft {
        let all = globals.merging(options) { _, given in given }
        return try Aria2Draft(all, folder: folders.standard, url: url)
    }

    private func add(
        _ request: DownloadRequest, _ draft: Aria2Draft, _ options: [String: JSONValue]
    ) async throws -> GID {
        if let gid = draft.gid, let id = gids.id(of: gid), try await find(id) != nil {
            throw RPCError("GID \(gid) is not unique.")
        }
        guard let added = try await service.add([request]).first else { throw RPCError("No URI to download.") }
        let id = added.record.id
        let old = gids.gid(of: id)
        if let gid = draft.gid {
            try gids.assign(gid, to: id)
        } else if added.kind == .adopted {
            // A client that adds a download again then removes the old result by its GID. This must not remove the
            // download, so the download gets another GID.
            try gids.assign(unusedGID(), to: id)
        }
        if gids.gid(of: id) != old, added.kind != .inserted {
            if superseded.count >= Self.mostRemembered { superseded.removeAll() }
            superseded.insert(old)
        }
        remember(options, of: id)
        return gids.gid(of: id)
    }

    /// Keeps the options of a download in memory for `getOption`, if they are not too long. For other downloads,
    /// `getOption` answers from the record.
    func remember(_ options: [String: JSONValue], of id: DownloadID) {
        var options = options.filter { Aria2Option.byName[$0.key] != nil }
        options["gid"] = nil
        options["pause"] = nil
        if given[id] == nil, given.count >= Self.mostRemembered { given.removeAll() }
        given[id] = JSONValue.object(options).data.count <= Self.longestOptions ? options : nil
    }

    private func unusedGID() -> GID {
        while true {
            let gid = GID(value: .random(in: 1...(.max)))
            if gids.id(of: gid) == nil { return gid }
        }
    }

    /// Handles `addMetalink(base64, options, position)`. Adds a download for each file of the document.
    func addMetalink(_ parameters: Parameters) async throws -> JSONValue {
        guard let bytes = Data(base64Encoded: try parameters.text(0)) else {
            throw RPCError("The parameter at 0 is not Base64.")
        }
        let options = try parameters.optionalFields(1)
        let position = try parameters.position(2)
        let document: Metalink
        do { document = try Metalink(bytes, name: "Metalink") } catch {
            throw RPCError("Could not parse Metalink XML document. \(RPCError(error).message)")
        }
        var added: [GID] = []
        for file in document.files {
            var file = file
            file.sources.removeAll { !$0.url.isHTTP }
            let urls = file.sources(preferring: options["metalink-location"]?.text)
            guard let url = urls.first else { throw RPCError("\(file.name): it has no http or https URL.") }
            let draft = try draft(options, url: url)
            var request = try draft.request(urls.map { ($0, nil) })
            try file.apply(to: &request)
            added.append(try await add(request, draft, options))
        }
        if let position {
            for (index, gid) in added.enumerated() { try await move(gid, position + index, .start, isNew: true) }
        }
        return .array(added.map { .text($0) })
    }
}
