import DownloadCore

extension Aria2Session {
    /// Answers `getOption` with the options in force, as options for `addUri`, so that a client can add the download
    /// again. All values are strings.
    func option(_ parameters: Parameters) async throws -> JSONValue {
        .object(options(of: try await snapshot(try parameters.text(0)).record))
    }

    private func options(of record: DownloadRecord) -> [String: JSONValue] {
        let place = place(of: record)
        var options = Self.standards.merging(Self.options(of: record.request)) { $1 }
        options.merge((given[record.id] ?? [:]).mapValues(Self.joined)) { $1 }
        options["dir"] = .string(place.folder)
        if let name = place.name { options["out"] = .string(name) }
        options["max-download-limit"] = .text(record.request.rateLimit ?? 0)
        return options
    }

    /// The defaults of the options that one download can have.
    private static let standards: [String: JSONValue] = Aria2Option.standards.filter { name, _ in
        !["pause", "max-overall-download-limit", "max-concurrent-downloads"].contains(name)
    }.mapValues { .string($0) }

    /// Returns an option's value as a string. A list becomes the lines of one text.
    private static func joined(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let values): .string(values.compactMap(\.text).map { $0 + "\n" }.joined())
        case .integer(let number): .text(number)
        case .bool(let truth): .text(truth)
        default: value
        }
    }

    private static func options(of request: DownloadRequest) -> [String: JSONValue] {
        var options: [String: JSONValue] = [:]
        let connections = request.connections.fixed ?? request.connections.limit ?? Aria2Draft.automatic
        options["split"] = .text(connections)
        options["max-connection-per-server"] = .text(connections)
        options["max-tries"] = .text(Aria2Draft.tries(of: request.retry))
        options["connect-timeout"] = .text(max(1, Int(min(request.timeouts.connect.inSeconds, 86_400).rounded())))
        options["timeout"] = .text(max(1, Int(min(request.timeouts.stall.inSeconds, 86_400).rounded())))
        options["check-certificate"] = .text(request.trust.verifiesServer)
        options["remote-time"] = .text(request.destination.keepsRemoteTime)
        options["continue"] = .text(request.destination.continues)
        options["allow-overwrite"] = .text(request.destination.ifExists == .overwrite)
        options["conditional-get"] = .text(request.destination.ifExists == .newer)
        options["auto-file-renaming"] = .text(request.destination.ifExists != .fail)
        if let checksum = request.checksum { options["checksum"] = .string(checksum.aria2) }
        if let agent = request.http.userAgent { options["user-agent"] = .string(agent) }
        if let referer = request.http.referer { options["referer"] = .string(referer) }
        let headers = request.headers.filter { !$0.isSecret }.compactMap { header in
            header.value.map { "\(header.name): \($0)\n" }
        }
        if !headers.isEmpty { options["header"] = .string(headers.joined()) }
        return options
    }

    /// Handles `changeOption`, which changes options of a download that has not ended. For most options aria2 begins
    /// the download again. dlm pauses and resumes it, so that it continues where it was.
    func changeOption(_ parameters: Parameters) async throws -> JSONValue {
        let found = try await snapshot(try parameters.text(0))
        let known = self.options(of: found.record)
        let options = try parameters.fields(1)
        // Clients send all options back that `getOption` has answered.
        let isChanged = { (name: String) in options[name].map(Self.joined) != known[name] }
        guard options.keys.contains(where: isChanged) else { return "OK" }
        let draft = try Aria2Draft(options, folder: folders.standard, url: found.record.request.url)
        // A download that exists is always continued.
        if let fixed = draft.fixedOptions.first(where: { $0 != "continue" && isChanged($0) }) {
            throw Aria2Draft.problem(fixed, "It cannot be changed after the download was added.")
        }
        guard !found.record.state.kind.isEnded else { throw RPCError("Cannot change option for GID#\(gid(found))") }
        try await service.check(draft.resumption, of: [found.id])
        if let limit = draft.rateLimit { _ = try await service.change([found.id], .rateLimit(limit)) }
        // As in aria2, `pause` is ignored here.
        let changed = options.filter { $0.key != "pause" }
        remember(given[found.id, default: Self.options(of: found.record.request)].merging(changed) { $1 }, of: found.id)
        guard draft.resumption != RequestOverrides() else { return "OK" }
        if found.record.state.kind == .paused {
            // The options of earlier calls wait, too.
            let all = (pending[found.id]?.options ?? [:]).merging(options) { $1 }
            let draft = try Aria2Draft(all, folder: folders.standard, url: found.record.request.url)
            pending[found.id] = (all, draft.resumption)
        } else {
            _ = try await service.change([found.id], .pause)
            _ = try await service.resume([found.id], overrides: draft.resumption)
        }
        return "OK"
    }

    func globalOption() async throws -> JSONValue {
        var options = Aria2Option.standards.mapValues { JSONValue.string($0) }
        options["dir"] = .string(folders.standard)
        options.merge(globals.mapValues(Self.joined)) { $1 }
        let settings = try await service.status().settings
        options["max-concurrent-downloads"] = settings.maxConcurrent.map { .text($0) }
        options["max-overall-download-limit"] = .text(settings.rateLimit ?? 0)
        return .object(options)
    }

    func changeGlobalOption(_ parameters: Parameters) async throws -> JSONValue {
        let options = try parameters.fields(0)
        var settings = SessionSettings()
        var kept: [String: JSONValue] = [:]
        for (name, value) in options {
            guard let option = Aria2Option.byName[name] else { continue }
            try option.requirePermitted()
            switch option.effect {
            case .overallRateLimit: settings.rateLimit = try Aria2Draft.size(Self.joined(value).text ?? "", name)
            case .concurrentDownloads:
                guard let number = Int(Self.joined(value).text ?? ""),
                    SessionSettings.possibleDownloads.contains(number)
                else {
                    throw Aria2Draft.problem(name)
                }
                settings.maxConcurrent = number
            case .identifier, .name, .checksum: throw Aria2Draft.problem(name, "It belongs to one download.")
            case .directory:
                do { kept[name] = .string(try folders.resolve(value.text ?? "")) } catch {
                    throw Aria2Draft.problem(name, RPCError(error).message)
                }
            case .some, nil: kept[name] = value
            }
        }
        // The options are checked as those of a download would be, so that an error is reported now and not with each
        // download.
        let draft = try Aria2Draft(kept, folder: folders.standard, url: Self.url("https://example.org/").url)
        try await service.check(draft.resumption, of: [])
        if settings != SessionSettings() { try await service.configure(settings) }
        globals.merge(kept) { $1 }
        return "OK"
    }
}

extension Checksum {
    /// The checksum in aria2's form: `sha-256=HEX`.
    fileprivate var aria2: String {
        let name = algorithm.rawValue
        return (name.hasPrefix("sha") ? "sha-\(name.dropFirst(3))" : name) + "=\(digest)"
    }
}
