import DownloadCore
import Foundation
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Messages for people", .inTurn, .serialized)
struct TextTests {
    static let lost = DownloadError.networkFailed(.connectionLost, TransportDiagnosis(code: 56, message: "reset"))

    @Test(
        "A failure names the file, the error, the reason and a remedy if there is one",
        arguments: [
            (
                .serverRefused(status: 404, phrase: "Not Found"), 0,
                "https://cd.example.org/debian-12.iso: 404 Not Found"
            ),
            (.serverRefused(status: 404, phrase: "Not Found"), 5, "3: debian-12.iso: 404 Not Found; run: dlm resume 3"),
            (lost, 0, "https://cd.example.org/debian-12.iso: connection lost: reset; run: dlm resume 3"),
            (lost, 5, "3: debian-12.iso: connection lost: reset; run: dlm resume 3"),
            (.fileFailed(.permissionDenied, path: "/x"), 0, "/x: permission denied"),
            (.cancelled, 0, "https://cd.example.org/debian-12.iso: cancelled"),
            (.authenticationFailed(status: 401), 0, "https://cd.example.org/debian-12.iso: 401 Unauthorized"),
        ] as [(DownloadError, Int64, String)])
    func failures(error: DownloadError, received: Int64, line: String) {
        let record = DownloadRecord.example(state: .failed(error)) { $0.receive(received, of: nil) }
        #expect(FailureText.line(record, error) == line)
    }

    @Test("The error about an unproved end says how to accept the body, once or for the host")
    func unproved() {
        let error = DownloadError.verificationFailed(.endUnproved)
        let record = DownloadRecord.example(state: .failed(error)) { $0.receive(5, of: nil) }
        #expect(!error.description.contains("--"))
        let line = FailureText.line(record, error)
        #expect(line.hasPrefix("3: debian-12.iso: the server sent no size and closed the connection"))
        #expect(line.contains("run: dlm resume 3 --allow-unverified;"))
        #expect(line.contains("allow-unverified: true for cd.example.org in the hosts: section of config.yaml"))
        #expect(FailureText.line(record, error, canResume: false).contains("give --allow-unverified;"))
    }

    @Test("A digest from beside the file need not count; one of a Metalink document must", arguments: [true, false])
    func contradicted(isBesideFile: Bool) {
        let digest = Checksum(algorithm: .sha256, digest: "00").stated(in: "https://example.org/SHA256SUMS")
        let error = DownloadError.verificationFailed(.serverDigest(expected: digest, actual: "11"))
        let record = DownloadRecord.example(state: .failed(error)) {
            var outcome = ProofPlan.Outcome()
            outcome.found = digest
            if isBesideFile { $0.resume.proof = outcome } else { $0.resume.digest = digest }
        }
        let advice = isBesideFile ? "if the digest is out of date, give --verify headers" : "run the same command again"
        #expect(FailureText.line(record, error).hasSuffix("; " + advice))
    }

    @Test("The error about missing secrets shows the command that gives them")
    func missingSecrets() {
        let error = DownloadError.requestInvalid(.missingSecrets(["Authorization"]))
        let line = FailureText.line(.example(state: .failed(error)), error)
        #expect(line.contains("Authorization") && line.hasSuffix("; run: dlm resume 3 -H 'NAME: VALUE'"))
    }

    @Test(
        "IDs are written as ranges, and left out if there are too many",
        arguments: [
            ([3], "3"), ([3, 4, 5, 8], "3-5 8"), ([1, 3, 5, 7, 9, 11, 13, 15], "1 3 5 7 9 11 13 15"),
            ([1, 3, 5, 7, 9, 11, 13, 15, 17], nil), ([], ""),
        ] as [([DownloadID], String?)])
    func ranges(ids: [DownloadID], text: String?) {
        #expect(SummaryText.ranges(ids) == text)
    }

    @Test("A paused download is shown with its progress")
    func paused() {
        let records: [DownloadRecord] = [
            .example(id: 1, state: .paused(.interrupt)) { $0.receive(0, of: 100) },
            .example(id: 2, state: .paused(.interrupt)) { $0.receive(2048, of: nil) },
            .example(id: 3, state: .paused(.interrupt)) { $0.receive(412 << 20, of: 654 << 20) },
            .example(id: 4) { $0.complete() },
        ]
        let lines = PausedText.lines(
            ids: [1, 2, 3, 4], snapshots: records.map { DownloadSnapshot(record: $0) }, hasRest: false)
        #expect(
            lines == [
                "1 debian-12.iso paused; continue with: dlm resume 1",
                "2 debian-12.iso paused at 2 KiB; continue with: dlm resume 2",
                "3 debian-12.iso paused at 62% (412 MiB); continue with: dlm resume 3",
            ])
    }

    @Test("A paused download without a known record is shown by its number")
    func pausedUnknown() {
        #expect(
            PausedText.lines(ids: [4], snapshots: [], hasRest: false)
                == ["1 download paused; continue with: dlm resume 4"])
        #expect(PausedText.lines(ids: [], snapshots: [], hasRest: false) == [])
    }

    @Test("If a signal came early, the command is to be run again; it may have read no list")
    func pausedEarly() {
        #expect(
            PausedText.lines(ids: [4], snapshots: [], hasRest: true) == [
                "1 download paused; continue with: dlm resume 4",
                "the command did not get to all downloads; run it again for the rest",
            ])
    }

    @Test("Downloads of other processes are reported as continuing")
    func joined() {
        #expect(
            PausedText.lines(ids: [], snapshots: [], elsewhere: 1)
                == ["1 download continues in another process; see: dlm list"])
        #expect(
            PausedText.lines(ids: [4], snapshots: [], elsewhere: 3) == [
                "1 download paused; continue with: dlm resume 4",
                "3 downloads continue in other processes; see: dlm list",
            ])
    }

    @Test("The summary counts complete and failed downloads")
    func summary() {
        var ledger = Ledger()
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(id: 1) { $0.complete(10 << 20) })))
        ledger.start(2, offset: 0)
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(id: 2) { $0.complete(20 << 20) })))
        #expect(
            SummaryText.line(ledger, seconds: 10, style: Style())
                == "2 downloads complete, 30 MiB in 10 s (2.0 MiB/s)")
        let current = DownloadRecord.example(id: 4) {
            $0.complete(0)
            $0.completed?.wasCurrent = true
            $0.completed?.checksum = Checksum(algorithm: .md5, digest: "00")
        }
        var checked = ledger
        _ = checked.end(EndedDownload(DownloadSnapshot(record: current)))
        #expect(
            SummaryText.line(checked, seconds: 10, style: Style())
                == "3 downloads complete, 1 of them md5 verified, 1 of them current already, 30 MiB in 10 s (2.0 MiB/s)"
        )
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(id: 3, state: .failed(.cancelled)))))
        #expect(
            SummaryText.line(ledger, seconds: 1, style: Style())
                == "3 downloads: 2 complete, 1 failed, 30 MiB in 1.0 s (20 MiB/s)")
    }

    @Test("The summary counts cancelled and failed downloads separately, and includes the bytes that they fetched")
    func cancelledSummary() {
        var ledger = Ledger()
        for id in [1, 2] as [DownloadID] {
            ledger.expect(id, .here)
            ledger.start(id, offset: 1 << 20)
            let record = DownloadRecord.example(id: id, state: .cancelled) { $0.receive(11 << 20, of: 99 << 20) }
            _ = ledger.end(EndedDownload(DownloadSnapshot(record: record)))
        }
        #expect(
            SummaryText.line(ledger, seconds: 4, style: Style())
                == "2 downloads: 0 complete, 2 cancelled, 20 MiB in 4.0 s (5.0 MiB/s)")
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(id: 3, state: .failed(.cancelled)))))
        _ = ledger.end(4, .cancelled)
        #expect(
            SummaryText.line(ledger, seconds: 4, style: Style())
                == "4 downloads: 0 complete, 1 failed, 3 cancelled, 20 MiB in 4.0 s (5.0 MiB/s)")
    }

    @Test("The summary counts downloads that were complete before, and files that are gone")
    func completeBefore() {
        func before(_ id: DownloadID, _ fate: CompletedFileFate?) -> EndedDownload {
            EndedDownload(before: DownloadSnapshot(record: .example(id: id) { $0.complete(10 << 20) }), fate: fate)
        }
        var ledger = Ledger()
        _ = ledger.end(before(1, .there))
        #expect(
            SummaryText.line(ledger, seconds: 0.1, style: Style())
                == "1 download was complete already, 10 MiB; nothing was fetched")
        _ = ledger.end(before(2, nil))
        #expect(
            SummaryText.line(ledger, seconds: 0.1, style: Style())
                == "2 downloads were complete already, 20 MiB; nothing was fetched")
        #expect(ledger.exitStatus == 0)
        _ = ledger.end(before(3, .gone))
        #expect(
            SummaryText.line(ledger, seconds: 1, style: Style())
                == "3 downloads: 2 complete, 1 with the file gone or changed, 2 of them complete already, 20 MiB in 1.0 s"
        )
        #expect(ledger.exitStatus == 13)
    }

    @Test("A retry is reported without -v if no progress bar shows it")
    func retries() {
        let busy = DownloadError.serverRefused(status: 503, phrase: "Busy")
        let snapshot = DownloadSnapshot(record: .example(state: .waiting(.retry(busy), until: Date())))
        #expect(ProgressText.text(.willRetry(snapshot, busy), verbosity: 0, now: Date()) == nil)
        #expect(
            ProgressText.text(.willRetry(snapshot, busy), verbosity: 0, tellsRetries: true, now: Date())
                == "3: debian-12.iso: 503 Busy; retry in 0 s")
    }

    @Test("One failure needs no summary")
    func oneFailure() {
        var ledger = Ledger()
        _ = ledger.end(EndedDownload(DownloadSnapshot(record: .example(state: .failed(.cancelled)))))
        #expect(SummaryText.line(ledger, seconds: 1, style: Style()) == nil)
    }

    @Test("A new version on the server is always reported, and other changes with --verbose only")
    func events() {
        let snapshot = DownloadSnapshot(record: .example(state: .running))
        let restart = DownloadEvent.didRestart(snapshot, why: .other("the ETag changed"))
        #expect(
            ProgressText.text(restart, verbosity: 0, now: Date()) == "3: debian-12.iso: starts over: the ETag changed")
        let comparing = DownloadEvent.didRestart(snapshot, why: .versionUnproved)
        let text = ProgressText.text(comparing, verbosity: 0, now: Date())
        #expect(text?.hasPrefix("3: debian-12.iso: fetches its bytes again: without a strong ETag") == true)
        let others: [DownloadEvent] = [
            .didAdd(snapshot), .didStart(snapshot, atOffset: 1024), .willRetry(snapshot, Self.lost),
        ]
        for event in others {
            #expect(ProgressText.text(event, verbosity: 0, now: Date()) == nil)
            #expect(ProgressText.text(event, verbosity: 1, now: Date())?.hasPrefix("3: debian-12.iso: ") == true)
        }
    }
}
