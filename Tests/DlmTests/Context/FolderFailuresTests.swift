import DownloadCore
import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Failures of a folder", .inTurn, .serialized)
struct FolderFailuresTests {
    func add(
        _ failures: inout FolderFailures, _ id: DownloadID, _ failure: FileFailure, at path: String,
        in folder: String = "/data", folderExists: Bool = false
    ) -> Bool {
        failures.add(
            .example(id: id, folder: folder), .fileFailed(failure, path: path), line: "line \(id)",
            folderExists: { _ in folderExists })
    }

    @Test("Failures because of a missing folder are reported once, with the count and the command")
    func once() {
        var failures = FolderFailures()
        for id in [7, 5, 6] as [DownloadID] {
            let isHeld = add(&failures, id, .partialMissing, at: "/data/f\(id).part")
            #expect(isHeld)
        }
        let isHeld = add(&failures, 9, .deleted, at: "/other/f9.part", in: "/other")
        #expect(isHeld)
        #expect(
            failures.take() == [
                "/data: the folder or its file system is gone; 3 downloads failed; run: dlm resume 5-7",
                "line 9",
            ])
        #expect(failures.take() == [])
    }

    @Test("A folder that cannot be made is reported once for all its downloads")
    func unmade() {
        var failures = FolderFailures()
        for id in [1, 2] as [DownloadID] {
            let isHeld = add(&failures, id, .permissionDenied, at: "/data")
            #expect(isHeld)
        }
        #expect(failures.take() == ["/data: permission denied; 2 downloads failed; run: dlm resume 1-2"])
    }

    @Test("Failures of single files are reported at once")
    func single() {
        var failures = FolderFailures()
        let single: [(FileFailure, String, Bool)] = [
            (.exists, "/data/a", false), (.deleted, "/data/a.part", true), (.permissionDenied, "/data/a.part", false),
        ]
        for (failure, path, folderExists) in single {
            let isHeld = add(&failures, 1, failure, at: path, folderExists: folderExists)
            #expect(!isHeld)
        }
        let isHeld = failures.add(.example(), .cancelled, line: "", folderExists: { _ in false })
        #expect(!isHeld)
        #expect(failures.take() == [])
    }
}
