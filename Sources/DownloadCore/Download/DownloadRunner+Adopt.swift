import CSystem
import Foundation
import HTTPTypes

/// Goes on with what another tool left unfinished under the final name (`-c`).
extension DownloadRunner {
    /// A file with the final name that may be the beginning of what is wanted.
    struct Continuable {
        let name: String
        let file: FileStatus.Info
    }

    /// Takes the file for the partial one if the server's has the same bytes where it ends. True: it is complete.
    func adopt(_ found: Continuable) async throws -> Bool {
        let size = found.file.size
        if size > 0 {
            let isLocal = record.request.url.known == .file
            guard let total = try await isLocal ? compareLocalEnd(of: found) : compareEnd(of: found) else {
                triesNameOfURL = false
                await endSegments()
                return false
            }
            if total == size {
                try await noteComplete(found)
                return true
            }
        }
        try await makePartial(found)
        return false
    }

    private func path(_ found: Continuable) -> String {
        FileNaming.path(record.request.destination.folder, found.name)
    }

    private static let comparedSize: Int64 = 64 << 10

    /// Returns the size of the server's file, or nil when that has another name; nothing is changed here.
    private func compareEnd(of found: Continuable) async throws -> Int64? {
        let (path, size) = (path(found), found.file.size)
        func differs(_ why: String) -> DownloadError {
            .verificationFailed(.notItsBeginning(path: path, why: why))
        }
        let range = max(0, size - Self.comparedSize)..<size
        compared = range
        defer { compared = nil }
        let opening: Opening
        do {
            guard let found = try await openScout() else { throw DownloadError.unexpected("no answer to compare with") }
            opening = found
        } catch {
            let asked = record.request
            let isOurs = opener?.head.map { asked.destination.name(of: $0, from: asked.url) == found.name } ?? false
            if opener?.head?.status == 416, isOurs { throw differs("it has \(size) bytes, and the server's has fewer") }
            throw error
        }
        guard let head = opening.scout.head, case .body(let offset, _, let total)? = opening.scout.verdict else {
            throw DownloadError.unexpected("no answer to compare with")
        }
        if record.request.destination.name(of: head, from: opening.url) != found.name { return nil }
        if let total, total < size { throw differs("it has \(size) bytes, and the server's \(total)") }
        guard offset == range.lowerBound, head.status == 206, let total else {
            throw differs("the server sends no parts of its file, so nothing can be compared")
        }
        let result = try await end(of: opening)
        if let error = ended(opening.scout, result).outcome.error { throw error }
        let ours = try await context.disk.onWriter { () throws(DownloadError) in try FileStatus.read(path, range) }
        let isSame = opening.scout.position == size && opening.scout.withWhole { $0.elementsEqual(ours) }
        opener = nil
        if !isSame { throw differs("its last \(range.count) bytes are others") }
        try note(head, opening)
        return total
    }

    /// The same of a file on this machine.
    private func compareLocalEnd(of found: Continuable) async throws -> Int64 {
        let (path, size) = (path(found), found.file.size)
        let source = try LocalSource(try localPath())
        guard source.status.size >= size else {
            throw DownloadError.verificationFailed(
                .notItsBeginning(path: path, why: "it has \(size) bytes, and the other \(source.status.size)"))
        }
        let range = max(0, size - Self.comparedSize)..<size
        let isSame = try await context.disk.onWriter { () throws(DownloadError) in
            try source.read(range).elementsEqual(try FileStatus.read(path, range))
        }
        guard isSame else {
            throw DownloadError.verificationFailed(
                .notItsBeginning(path: path, why: "its last \(range.count) bytes are others"))
        }
        return source.status.size
    }

    func makeProbe(_ range: Range<Int64>, asksRange: Bool) -> SegmentWriter {
        var judge = ResponseJudge(start: range.lowerBound, end: range.upperBound, asksRange: asksRange)
        judge.validation = record.request.validation
        let connection = nextConnection
        nextConnection += 1
        return SegmentWriter(
            connection: connection, judge: judge, file: nil, countedFrom: range.upperBound, disk: context.disk,
            control: control)
    }

    private func noteComplete(_ found: Continuable) async throws {
        let file = try await verified(CompletedFile(path(found), found.file, record.resume.validators))
        record.completed = file
        record.fileName = found.name
        record.resume = record.resume.afterCompletion
        control.show(received: found.file.size)
        control.show(record)
    }

    /// The store knows of it before it is renamed: cut off in between, it is found again under either name.
    private func makePartial(_ found: Continuable) async throws {
        let size = found.file.size
        let before = record
        record.fileName = found.name
        record.resume.file = found.file.identity
        record.resume.device = found.file.device
        record.resume.bootID = FileStatus.bootID
        if size > 0 {
            record.resume.written = ByteRanges([0..<size])
            record.resume.movedFrom = record.request.url
        }
        do {
            try await save(durably: true)
            FaultPoint.reached("beforeAdopt")
            let folder = record.request.destination.folder
            let file = try await context.disk.onWriter { () throws(DownloadError) in
                try PartialFile.adopt(folder: folder, name: found.name, found.file.identity)
            }
            FaultPoint.reached("afterAdopt")
            file.trust(written: record.resume.written, durable: ByteRanges())
            inherited = record.resume.written
            if context.watchesWriters { file.watchWriters() }
            self.file = file
        } catch {
            record = before
            throw error
        }
        control.show(received: size)
        control.show(record)
    }
}
