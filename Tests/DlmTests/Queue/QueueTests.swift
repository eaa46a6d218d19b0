import ArgumentParser
import DownloadCore
import DownloadStoragePostgres
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("Shared queues: sizes of leases, requests and options", .inTurn, .serialized)
struct QueueTests {
    @Test("A worker leases as many URLs as it finishes in four seconds, but at least twice as many as run at once")
    func size() {
        var size = LeaseSize(running: 8)
        #expect(size.wanted(held: 0) == 16 && size.wanted(held: 8) == 8 && size.wanted(held: 9) == 0)
        // However fast the worker is, the number at most doubles in one step.
        size.adapt(ended: 1000, seconds: 1)
        #expect(size.target == 32 && size.lowest == 16)
        for _ in 0..<20 { size.adapt(ended: 1000, seconds: 1) }
        #expect(size.target == LeaseSize.largest)
        // A slow worker gets few URLs, but never fewer than keep all transfers busy.
        size.adapt(ended: 100, seconds: 1)
        #expect(size.target == 400)
        size.adapt(ended: 1, seconds: 60)
        #expect(size.target == 16)
        size.adapt(ended: 1, seconds: 0)
        #expect(size.target == 16)
    }

    private func maker(_ words: String...) throws -> RequestMaker {
        let get = try #require(DLM.scanned(["get", "-b", "--store", "postgres://h/d"] + words))
        return try RequestMaker(get, workingFolder: "/base")
    }

    private func request(_ words: String..., line: String? = nil) throws -> DownloadRequest {
        let get = try #require(
            DLM.scanned(["get", "-b", "--store", "postgres://h/d"] + words + ["http://h.test/a/b.jpg"]))
        return try RequestMaker(get, workingFolder: "/base").request("http://h.test/a/b.jpg")
    }

    private func leased(_ item: QueueItem, folder: String? = nil) throws -> DownloadRequest {
        let row = [
            "5", item.url, "1", folder ?? item.folder, item.name, "1", "0",
        ]
        let leased = try #require(LeasedItem(row))
        return try QueuedRequest.request(leased, RequestDocument(text: item.document).request, folder: nil)
    }

    @Test("A request that is put into the queue comes out unchanged")
    func roundTrip() throws {
        var documents = QueuedRequest.Documents()
        for words in [[], ["--retries", "9"], ["-d", "sub"], ["--spread"], ["--name-by", "hash"], ["-d", "/other"]] {
            let get = try #require(
                DLM.scanned(["get", "-b", "--store", "postgres://h/d"] + words + ["http://h.test/a/b.jpg"]))
            let maker = try RequestMaker(get, workingFolder: "/base")
            let request = try maker.request("http://h.test/a/b.jpg")
            let item = try QueuedRequest.item(request, base: maker.folder, &documents)
            #expect(item.host == "h.test" && item.url == "http://h.test/a/b.jpg")
            #expect(!item.folder.hasPrefix("/") && item.name != nil)
            #expect(try leased(item) == request, "\(words)")
        }
    }

    @Test("Names never come from servers, and by default an existing file with the name is not downloaded again")
    func names() throws {
        #expect(try request().destination.fileName == "a%2Fb.jpg")
        #expect(try request().destination.ifExists == .skip)
        #expect(try request("--if-exists", "overwrite").destination.ifExists == .overwrite)
        #expect(try request("--if-exists", "fail").destination.ifExists == .fail)
    }

    @Test("With a folder of the worker, no file is put elsewhere, whatever the queue says")
    func folders() throws {
        let document = try RequestDocument(text: "{}").request
        func folder(_ folder: String, _ own: String?, name: String? = "n") throws -> String {
            let item = try #require(LeasedItem(["1", "http://h/a", "1", folder, name, "1", "0"]))
            return try QueuedRequest.request(item, document, folder: own).destination.folder
        }
        #expect(try folder("a/b", "/own") == "/own/a/b")
        #expect(try folder("", "/own") == "/own")
        #expect(try folder("/elsewhere", nil) == "/elsewhere")
        for (path, own, name) in [
            ("/elsewhere", "/own", "n"), ("../x", "/own", "n"), ("a/../../x", nil, "n"),
            // Swift counts a slash with a combining mark as one Character, which differs from a slash.
            ("a/../\u{301}x", "/own", "n"), ("/\u{301}x", "/own", "n"), ("", "/own", "../x"),
            ("", nil, ""),
        ] {
            #expect(throws: DownloadError.self, "\(path) \(name)") { try folder(path, own, name: name) }
        }
    }

    @Test("A URL in a form that dlm does not write, or with a password, is refused")
    func forms() throws {
        let document = try RequestDocument(text: "{}").request
        for url in ["http://h", "HTTP://h/a", "http://h/a#b", "http://a:b@h/a", "h/a", "http://h/a b", "", "file:///a"]
        {
            let item = try #require(LeasedItem(["1", url, "1", "", "n", "2", "0"]))
            #expect(throws: DownloadError.self, "\(url)") { try QueuedRequest.request(item, document, folder: nil) }
        }
    }

    @Test("A request whose mirror or Metalink document is a local file is refused")
    func mirrors() throws {
        var request = try request()
        request.mirrors = [try SourceURL("http://m.test/a"), try SourceURL("file:///etc/passwd")]
        #expect(QueuedRequest.refusal(of: request) != nil)
        request.mirrors.removeLast()
        #expect(QueuedRequest.refusal(of: request) == nil)
        request.describedBy = try SourceURL("file:///etc/passwd")
        #expect(QueuedRequest.refusal(of: request) != nil)
    }

    @Test(
        "Requests with secrets or programs are refused when they are put into the queue and when they are leased",
        arguments: [
            ["-u", "ann:secret"], ["-H", "Authorization: Bearer x"], ["-H", "Cookie: a=b"], ["--data", "a=b"],
            ["--on-complete", "/bin/true"], ["--url-command", "echo"], ["--paused"],
        ])
    func refused(_ words: [String]) throws {
        let get = try #require(DLM.scanned(["get", "-b", "--store", "postgres://h/d"] + words + ["http://h.test/a"]))
        var request = try RequestMaker(get, workingFolder: "/base").request("http://h.test/a")
        #expect(QueuedRequest.refusal(of: request) != nil)
        request.destination.folder = "/base"
        let text = try RequestDocument(request).text()
        let item = try #require(LeasedItem(["1", "http://h.test/a", "1", "", "n", "1", "0"]))
        #expect(throws: DownloadError.self) {
            try QueuedRequest.request(item, RequestDocument(text: text).request, folder: nil)
        }
    }

    @Test(
        "Wrong combinations and values of options are refused with a reason",
        arguments: [
            ("get --store postgres://h/d u", "-b"),
            ("get -b --store postgres://h/d --name-by number -i l", "same names"),
            ("get -b --store postgres://h/d -M m", "-M"), ("get -b --store mysql://h/d u", "PostgreSQL"),
            ("get -b --store postgres://a:secret@h/d u", "PGPASSWORD"), ("work", "store"),
            ("work --store postgres://h/d --lease-time 0.5", "1s"), ("work --store postgres://h/d -j 0", "-j"),
            ("work --store postgres://h/d --manifest-digest", "--manifest"), ("pause --host h --all", "--store"),
            ("pause --store postgres://h/d 3", "--host"), ("pause --store postgres://h/d", "--host"),
            ("resume --store postgres://h/d --state queued", "failed"), ("wait --store postgres://h/d 3", "whole"),
            ("wait --store postgres://h/d --any", "whole"), ("resume --store postgres://h/d 3 --host h", "numbers"),
            ("pause --store postgres://h/d --all --host h", "--host"), ("resume --host h 3", "--store"),
            ("pause", "numbers of downloads"), ("resume", "numbers of downloads"), ("wait", "numbers of downloads"),
        ])
    func options(_ line: String, _ reason: String) {
        let words = line.split(separator: " ").map(String.init)
        let error = #expect(throws: (any Error).self) { try DLM.command(words) }
        let message = error.map { DLM.fullMessage(for: $0) } ?? ""
        #expect(message.contains(reason), "\(message)")
        #expect(!message.contains("secret"))
    }

    @Test("The result of a URL becomes its state in the queue")
    func results() throws {
        let date = try #require(try? ManifestEntry(line: Self.line.utf8)).ended
        func state(_ error: ManifestEntry.Failure?) throws -> QueueResult {
            var entry = try ManifestEntry(line: Self.line.utf8)
            entry.error = error
            return QueueResult(entry, item: 3)
        }
        #expect(date.timeIntervalSince1970 > 0)
        #expect(try state(nil).state == .done && state(nil).bytes == 9 && state(nil).error == nil)
        let busy = try state(ManifestEntry.Failure(.serverRefused(status: 503, phrase: "")))
        #expect(busy.state == .failed && busy.error == "server/status503")
        #expect(try state(ManifestEntry.Failure(.serverRefused(status: 404, phrase: ""))).state == .failedForGood)
    }

    private static let line = """
        {"attempts":1,"bytes":9,"ended":"2026-11-24T09:00:00Z","seconds":1,"status":"done","url":"http://h/a","version":1}
        """
}
