import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests that the result is exactly the new file or a clear error, and never a mixture.
    @Suite("Faults of files that change", .serialized, .timeLimit(.minutes(20)))
    struct ChangeFaultTests {
        enum Tag: String, CaseIterable {
            case strong, weak, missing, malformed, several

            func value(_ version: String) -> String? {
                switch self {
                case .strong, .several: "\"\(version)\""
                case .weak: "W/\"\(version)\""
                case .missing: nil
                case .malformed: version
                }
            }
        }

        enum Modified: String, CaseIterable {
            case old, fresh = "seconds old", missing, malformed

            func value(isNew: Bool, now: String) -> String? {
                switch self {
                case .old: "Tue, 0\(isNew ? 2 : 1) Jan 2019 00:00:00 GMT"
                case .fresh: now
                case .missing: nil
                case .malformed: isNew ? "today" : "yesterday"
                }
            }
        }

        enum Change: CaseIterable {
            case sameSize, oneByte, larger, smaller, smallerThanPart, appendedTo, cutShort, emptied

            var content: Content {
                let size = HTTPFault.content.size
                return switch self {
                case .sameSize: Content(seed: 302, size: size)
                // The changed byte is in the partial file, far from its end.
                case .oneByte: HTTPFault.content.flipping(250)
                case .larger: Content(seed: 302, size: size + 3_000_001)
                case .smaller: Content(seed: 302, size: size - 1_000_001)
                case .smallerThanPart: Content(seed: 302, size: 100_000)
                case .appendedTo: Content(seed: 300, size: size + 2_000_003)
                case .cutShort: Content(seed: 300, size: 150_000)
                case .emptied: .empty
                }
            }
        }

        /// How a server distinguishes one version from another.
        struct Validator {
            let tag: Tag
            let modified: Modified
            /// Whether the new version has the ETag of the old version. Tested for weak and malformed ETags.
            let isKept: Bool
            /// Whether the server sends the requested range without checking `If-Range`.
            let isBlind: Bool

            var name: String {
                "ETag \(tag.rawValue)\(isKept ? " and unchanged" : ""), Last-Modified \(modified.rawValue)"
                    + (isBlind ? ", If-Range ignored" : "")
            }

            func reply(_ content: Content, isNew: Bool, now: String) -> FaultReply {
                let version = isNew && !isKept ? "v2" : "v1"
                let modified = modified.value(isNew: isNew, now: now)
                return FaultReply(content, etag: tag.value(version), lastModified: modified).with {
                    // `Date` is the same moment as the `Last-Modified` of a fresh file, however long the suite runs.
                    $0.fields = modified == nil ? [] : [("Date", now)]
                    if tag == .several { $0.fields.append(("ETag", "\"another\"")) }
                    $0.ranges = isBlind ? .honouredBlindly : .honoured
                }
            }

            static let all = Tag.allCases.flatMap { tag in
                Modified.allCases.flatMap { modified in
                    [false, true].flatMap { isBlind -> [Validator] in
                        let changed = Validator(tag: tag, modified: modified, isKept: false, isBlind: isBlind)
                        let kept = Validator(tag: tag, modified: modified, isKept: true, isBlind: isBlind)
                        return tag == .weak || tag == .malformed ? [changed, kept] : [changed]
                    }
                }
            }
        }

        static let faults: [HTTPFault] = Validator.all.flatMap { validator in
            Change.allCases.map { change in
                let now = HTTPDate.ago(0)
                let new = validator.reply(change.content, isNew: true, now: now)
                return HTTPFault(validator.name) { _, _ in new }.with {
                    $0.area = .change
                    $0.lasts = true
                    $0.good = validator.reply(HTTPFault.content, isNew: false, now: now)
                    $0.right = change.content
                    $0.healed = new
                    guard change == .emptied, validator.tag != .strong else { return }
                    // If nothing shows that the file has changed, an empty answer is invalid.
                    $0.later = .either([7])
                    $0.healed = nil
                }
            }
        }

        static let places: [(FaultTrial.Moment, Int)] = [
            (.resume, 1), (.middle, 4), (.segment, 4), (.middle, 1), (.resume, 4),
        ]

        @Test("Every change of the file, under every combination of validators, gives the new file or a clear error")
        func changes() async throws {
            try await HTTPFaultCell.run(FaultTrial.short(Self.faults, each: 12), in: Self.places)
        }

        @Test("With a new strong ETag or date, the new file is fetched once, and a message says so")
        func startsOver() async throws {
            let new = Content(seed: 302, size: HTTPFault.content.size)
            for (tag, modified) in [(Tag.strong, Modified.missing), (.missing, .old)] {
                let validator = Validator(tag: tag, modified: modified, isKept: false, isBlind: false)
                let old = validator.reply(HTTPFault.content, isNew: false, now: HTTPDate.ago(0))
                try await withDlm(serving: old) { sandbox, server in
                    try await HTTPFaultCell.leavePart(old, 1, sandbox, server)
                    let sent = server.log.bytesSent
                    server.handle { _ in validator.reply(new, isNew: true, now: HTTPDate.ago(0)) }
                    let result = try await sandbox.perform("get", server.url())
                    try expectDownloaded(new, as: "file.bin", by: result, in: sandbox)
                    #expect(result.errorLines.count == 1 && result.stderr.contains("starts over"), "\(result.stderr)")
                    #expect(server.log.bytesSent - sent <= new.size + mebibyte / 4)
                    let condition = try #require(server.log.entries.last { $0.ifRange != nil }?.ifRange)
                    #expect(condition == (tag == .strong ? "\"v1\"" : "Tue, 01 Jan 2019 00:00:00 GMT"))
                }
            }
        }

        @Test("A login page instead of the file does not replace the partial file")
        func loginPage() async throws {
            let page = FaultReply(Content("<html>please log in</html>")).with {
                $0.fields = [("Content-Type", "text/html")]
                $0.ranges = .ignored
            }
            let fault = HTTPFault("a login page instead of the rest", later: .fails([9])) { _, _ in page }.with {
                $0.area = .change
                $0.good.fields = [("Content-Type", "application/octet-stream")]
            }
            try await HTTPFaultCell.run(
                [fault], in: [(.middle, 1), (.middle, 4), (.resume, 1), (.resume, 4)], short: 4)
        }
    }
}
