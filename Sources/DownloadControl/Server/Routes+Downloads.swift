import DownloadCore
import Foundation

/// An operation on downloads, `POST /v1/downloads/VERB`.
enum Verb: String {
    case pause, cancel, resume, remove
}

extension Routes {
    func downloads(_ request: ControlRequest) async throws -> ControlAnswer {
        switch request.method {
        case "GET": try await list(request)
        case "POST": try await add(request)
        default: try await patch(request, id: nil)
        }
    }

    func download(_ id: DownloadID, _ request: ControlRequest) async throws -> ControlAnswer {
        if request.method == "PATCH" { return try await patch(request, id: id) }
        return try await within(limits.answer) {
            var document = WireDownload(try await service.snapshot(id, isDetailed: true))
            document.version = WireCoder.version
            return .json(document)
        }
    }

    // MARK: GET

    /// The states that a list without a filter leaves out, as `dlm list` does.
    private static let finished: Set<DownloadState.Kind> = [.completed, .cancelled]

    private func list(_ request: ControlRequest) async throws -> ControlAnswer {
        var selection = try selection(request)
        let wanted = min(selection.limit ?? .max, limits.rows)
        // One row more than fits into the response shows whether there are more rows.
        selection.limit = wanted + 1
        let asked = selection
        let found = try await within(limits.answer) { try await service.snapshots(asked) }
        if case .ids(let ids) = selection.which, selection.after == nil, found.count < min(ids.count, wanted) {
            let known = Set(found.map(\.id))
            if let missing = ids.first(where: { !known.contains($0) }) { throw DownloadError.noSuchDownload(missing) }
        }
        let rows = Array(selection.after == nil ? found.suffix(wanted) : found.prefix(wanted))
        let hasMore = found.count > wanted
        let fields = try request.query["fields"].map { Set(try Self.words($0, "fields") as [WireDownload.Field]) }
        return ControlAnswer(body: .stream { try await Self.write(rows, fields, hasMore: hasMore, to: $0) })
    }

    /// Returns the words of a list in a query.
    private static func words<Word: RawRepresentable<String>>(_ list: String, _ name: String) throws -> [Word] {
        try list.split(separator: ",").map { text in
            guard let word = Word(rawValue: String(text)) else { throw WireProblem("\(name): there is no \(text)") }
            return word
        }
    }

    /// Writes the response row by row, so that the text of 10,000 rows is never in memory.
    private static func write(
        _ rows: [DownloadSnapshot], _ fields: Set<WireDownload.Field>?, hasMore: Bool, to writer: AnswerWriter
    ) async throws {
        var piece = Data(#"{"version":\#(WireCoder.version),"more":\#(hasMore),"downloads":["#.utf8)
        for (index, row) in rows.enumerated() {
            if index > 0 { piece.append(UInt8(ascii: ",")) }
            var download = WireDownload(row)
            download.only = fields
            piece.append(try WireCoder.encode(download))
            if piece.count >= AnswerWriter.pieceSize / 2 {
                try await writer.write(piece)
                piece.removeAll(keepingCapacity: true)
            }
        }
        piece.append(contentsOf: "]}".utf8)
        try await writer.write(piece)
    }

    private func selection(_ request: ControlRequest) throws -> DownloadSelection {
        DownloadSelection(
            try which(request.query), limit: try number("limit", request),
            after: try number("after", request).map(DownloadID.init(rawValue:)),
            isDetailed: request.query["detailed"] == "true")
    }

    private func which(_ query: [String: String]) throws -> DownloadSelection.Which {
        if let ids = query["ids"] { return .ids(try IDList.parse(ids, atMost: limits.rows)) }
        if let states = query["state"] { return .states(Set(try Self.words(states, "state"))) }
        return query["all"] == "true" ? .all : .states(Set(DownloadState.Kind.allCases).subtracting(Self.finished))
    }

    func number<Number: FixedWidthInteger>(_ name: String, _ request: ControlRequest) throws -> Number? {
        guard let text = request.query[name] else { return nil }
        guard let number = Number(text), number >= 0 else { throw WireProblem("\(name): give a number") }
        return number
    }

    // MARK: POST

    private func add(_ request: ControlRequest) async throws -> ControlAnswer {
        let wish = try WireAdd.read(request.body)
        var requests = RequestList()
        for group in wish.groups { try group.append(to: &requests) }
        let wanted = requests
        return try await within(limits.answer) {
            .json(WireAddedList(try await service.add(wanted), isBrief: wish.isBrief))
        }
    }

    func perform(_ verb: Verb, _ request: ControlRequest, id: DownloadID?) async throws -> ControlAnswer {
        let wish = try wish(request, id: id)
        let ids = wish.ids ?? []
        switch verb {
        case .pause: return try await change(ids, .pause, limits.diskAnswer)
        case .cancel: return try await change(ids, .cancel, limits.diskAnswer)
        case .remove:
            let deletesFile = wish.deleteFile ?? false
            return try await within(limits.diskAnswer) {
                try await service.remove(ids, deletesFile: deletesFile)
                return .json(WireRemoved(ids: ids))
            }
        case .resume:
            let overrides = try wish.overrides()
            return try await within(limits.answer) {
                let claimed = try await service.resume(ids, overrides: overrides).map {
                    WireDownload(DownloadSnapshot(record: $0.record), kind: $0.kind)
                }
                return .json(WireDownloads(downloads: claimed))
            }
        }
    }

    private func patch(_ request: ControlRequest, id: DownloadID?) async throws -> ControlAnswer {
        let wish = try wish(request, id: id)
        return try await change(wish.ids ?? [], try wish.change(), limits.answer)
    }

    private func change(
        _ ids: [DownloadID], _ change: DownloadChange, _ limit: Duration
    ) async throws -> ControlAnswer {
        try await within(limit) {
            let changed = try await service.change(ids, change)
            return .json(
                WireDownloads(downloads: changed.map { WireDownload($0.snapshot, changed: $0.didChange) }))
        }
    }

    /// Returns the body of the request, with the ids of the downloads. The ids come from the path or from the body,
    /// never from both.
    private func wish(_ request: ControlRequest, id: DownloadID?) throws -> WireVerb {
        var wish = request.body.isEmpty ? WireVerb() : try decode(WireVerb.self, request)
        if let id {
            guard wish.ids == nil else { throw WireProblem("ids: the path already contains an id") }
            wish.ids = [id]
        }
        guard let ids = wish.ids, !ids.isEmpty else { throw WireProblem("ids: give at least one") }
        guard ids.count <= limits.rows else { throw WireProblem("ids: give at most \(limits.rows)") }
        return wish
    }
}
