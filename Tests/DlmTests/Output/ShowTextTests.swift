import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("show as text", .inTurn, .serialized)
struct ShowTextTests {
    /// The time of the examples in the local time zone.
    let time = ShowText.text(Date(timeIntervalSince1970: 1_700_000_000))

    func text(_ record: DownloadRecord) -> String {
        let document = DownloadDocument(DownloadSnapshot(record: record), now: Date())
        return ShowText(document: document, style: Style()).lines.joined(separator: "\n")
    }

    func attempt(_ received: Int64, _ outcome: String) -> AttemptRecord {
        var attempt = AttemptRecord(started: Date(timeIntervalSince1970: 1_700_000_000))
        attempt.ended = attempt.started.addingTimeInterval(5)
        attempt.received = received
        attempt.connections = 4
        attempt.redirects = 2
        attempt.outcome = outcome
        attempt.metrics = TransferMetrics()
        attempt.metrics?.remoteAddress = "192.0.2.7"
        attempt.metrics?.httpVersion = "1.1"
        return attempt
    }

    @Test("A paused download shows its URLs, its file, its progress and how to continue")
    func paused() {
        let record = DownloadRecord.example(state: .paused(.interrupt)) {
            $0.fileName = "debian-12.iso"
            $0.receive(412 << 20, of: 654 << 20)
            $0.resume.acceptsRanges = true
            $0.resume.validators.etag = EntityTag(opaque: "65a1-28d")
            $0.resume.finalURL = .example("https://mirror2.example.org/debian-12.iso")
            $0.request.connections = 4
            $0.attempts = [attempt(412 << 20, "SIGINT")]
        }
        #expect(
            text(record) == """
                3  debian-12.iso  paused: ended by SIGINT
                   from        https://cd.example.org/debian-12.iso
                   final URL   https://mirror2.example.org/debian-12.iso  (2 redirects)
                   to          /home/me/iso/debian-12.iso
                   have        412 of 654 MiB (62%), 4 connections; resumable: ETag "65a1-28d"
                   parts       ███████████████████████████████▒░░░░░░░░░░░░░░░░░░
                   added       \(time)
                   attempts    1  \(time)  192.0.2.7  HTTP/1.1  x4  412 MiB in 5.0 s  ended: SIGINT
                   continue    dlm resume 3
                """)
    }

    @Test("A running download shows its connections, and which parts of the file are there, come, and are missing")
    func connections() {
        var snapshot = DownloadSnapshot(
            record: .example(state: .running) {
                $0.resume.total = 50 << 20
                $0.resume.written = ByteRanges([0..<(20 << 20), (30 << 20)..<(32 << 20) + 5])
            })
        snapshot.activeConnections = [20, 32].map {
            ConnectionProgress(origin: "https://\($0)", position: $0 << 20, speed: 2048)
        }
        func lines(isUnicode: Bool) -> [String] {
            let document = DownloadDocument(snapshot, now: Date())
            return ShowText(document: document, style: Style(isUnicode: isUnicode)).lines
        }
        let start = lines(isUnicode: false).firstIndex { $0.contains("parts") } ?? 0
        #expect(
            lines(isUnicode: false)[start..<start + 3].joined(separator: "\n") == """
                   parts       ####################>.........##>.................
                   connection  https://20  at 20 MiB  2.0 KiB/s
                               https://32  at 32 MiB  2.0 KiB/s
                """)
        #expect(lines(isUnicode: true)[start].contains("████▓░"))
        // A file that is smaller than the bar, and an empty one.
        snapshot.record.resume.total = 3
        snapshot.record.resume.written = ByteRanges([0..<2])
        snapshot.activeConnections = nil
        let small = String(repeating: "#", count: 34) + String(repeating: ".", count: 16)
        #expect(lines(isUnicode: false)[start] == "   parts       " + small)
        snapshot.record.resume.total = 0
        #expect(!lines(isUnicode: true).contains { $0.contains("parts") })
    }

    @Test("A completed download shows its file, and no way to continue")
    func completed() {
        let record = DownloadRecord.example {
            $0.complete(654 << 20)
            $0.completed?.checksum = Checksum(algorithm: .md5, digest: "00")
            $0.request.checksum = Checksum(algorithm: .md5, digest: "00")
        }
        #expect(
            text(record) == """
                3  debian-12.iso  completed
                   from        https://cd.example.org/debian-12.iso
                   file        /home/me/iso/debian-12.iso
                   size        654 MiB
                   checksum    md5:00  (verified)
                   added       \(time)
                   finished    \(time)
                """)
    }

    @Test(
        "A checksum from the server is shown with the field that stated it, if it is known",
        arguments: ["x-goog-hash", nil])
    func served(field: String?) {
        let record = DownloadRecord.example {
            $0.complete(654 << 20)
            var checksum = Checksum(algorithm: .crc32c, digest: "00")
            checksum.field = field
            $0.completed?.checksum = checksum
            $0.completed?.verifiedBy = .server
        }
        let origin = "the checksum is from the server" + (field.map { "'s \($0)" } ?? "") + " (same server)"
        #expect(text(record).contains("checksum    crc32c:00  (verified; \(origin))\n"))
        #expect(ProgressText.details(record).contains { $0.hasSuffix("crc32c:00 verified; \(origin)") })
    }

    @Test("Each source is shown with the bytes that came from it, and why it is no longer used")
    func sources() {
        let mirror = SourceURL.example("https://mirror.example.org/debian-12.iso")
        let record = DownloadRecord.example(state: .paused(.user)) {
            $0.request.mirrors = [mirror]
            var book = SourceBook()
            var standing = SourceStanding(url: $0.request.url.string)
            standing.received = 512 << 10
            book.standings = [standing]
            $0.resume.sources = book
        }
        #expect(
            text(record).contains(
                """
                   sources     https://cd.example.org/debian-12.iso  512 KiB
                               https://mirror.example.org/debian-12.iso
                """), "\(text(record))")
    }

    @Test("The reason for a wait is shown once")
    func waiting() {
        let until = Date(timeIntervalSince1970: 1_700_000_000)
        let lost = DownloadError.serverRefused(status: 503, phrase: "busy")
        let scheduled = text(DownloadRecord.example(state: .waiting(.schedule, until: until)))
        #expect(scheduled.contains("  waiting until \(time)\n"), "\(scheduled)")
        let network = text(DownloadRecord.example(state: .waiting(.network(lost), until: nil)))
        #expect(network.contains("  waiting for the network\n"), "\(network)")
        #expect(
            text(DownloadRecord.example(state: .waiting(.retry(lost), until: until))).contains("  waiting: retry in"))
    }

    @Test("Secrets are named without their values, and text from the server is escaped")
    func secrets() {
        let record = DownloadRecord.example(state: .failed(.serverRefused(status: 400, phrase: "\u{1B}[2J"))) {
            $0.request.headers = [
                RequestHeader(name: "Authorization", value: "Bearer hunter2"),
                RequestHeader(name: "Accept", value: "*/*"),
            ]
            $0.request.trust = .insecure
        }
        let text = text(record)
        #expect(!text.contains("hunter2") && !text.contains("\u{1B}"))
        #expect(text.contains("Authorization: (not stored)") && text.contains("Accept: */*"))
        #expect(text.contains("not verified") && text.contains("400 \\x1b[2J"))
    }

    @Test(
        "The line about resuming shows the validators",
        arguments: [
            (true, EntityTag(opaque: "a", isWeak: true), nil, "weak ETag W/\"a\""),
            (true, nil, "Tue, 01 Jan 2030 00:00:00 GMT", "Last-Modified Tue"),
            (true, nil, nil, "no ETag or Last-Modified"),
            (false, nil, nil, "not resumable"),
        ] as [(Bool, EntityTag?, String?, String)])
    func resumability(acceptsRanges: Bool, etag: EntityTag?, date: String?, part: String) {
        let record = DownloadRecord.example(state: .paused(.user)) {
            $0.receive(1, of: 2)
            $0.resume.acceptsRanges = acceptsRanges
            $0.resume.validators = Validators(etag: etag, lastModified: date)
        }
        #expect(text(record).contains(part), "\(text(record))")
    }
}
