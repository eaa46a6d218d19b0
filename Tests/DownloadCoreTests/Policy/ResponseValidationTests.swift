import Foundation
import DownloadTestSupport
import Testing

@testable import DownloadCore

@Suite(.inTurn) struct ResponseValidationTests {
    private static func types(_ texts: String...) -> ResponseValidation {
        ResponseValidation(types: texts.compactMap { MediaRange($0) })
    }

    private func verdict(_ validation: ResponseValidation, of head: ResponseHead) -> ResponseJudge.Verdict {
        var judge = ResponseJudge(start: 0, end: nil, asksRange: true)
        judge.validation = validation
        return judge.judge(head)
    }

    private func failure(_ validation: ResponseValidation, of head: ResponseHead) -> VerificationFailure? {
        if case .failed(.verificationFailed(let failure)) = verdict(validation, of: head) { failure } else { nil }
    }

    @Test(
        "A media range is one type, all types of one kind, or all types",
        arguments: [
            ("application/zip", "application/zip", true), ("Image/*", "image/png", true), ("*/*", "a/b", true),
            ("application/zip", "application/zipx", false), ("image/*", "imagex/png", false),
            ("text/plain", "text/html", false), ("image/*", "image", false), ("*/*", "", false),
        ])
    func contains(range: String, type: String, isMember: Bool) throws {
        #expect(try #require(MediaRange(range)).contains(type) == isMember)
    }

    @Test(
        "Text that is not a media range is refused",
        arguments: [
            "", "zip", "/", "a/", "/b", "a/b/c", "*/zip", "a b/c", "text/html; charset=x", "im*ge/png", "image/p*",
            "ä/b",
        ])
    func noRange(text: String) { #expect(MediaRange(text) == nil) }

    @Test(
        "Status codes are given as numbers and as ranges of numbers",
        arguments: [
            ("200", [200], [199, 201]), ("403,520-529", [403, 520, 529], [402, 519, 530]),
            (" 200 , 203 ", [200, 203], [201]),
        ])
    func codes(text: String, members: [Int], others: [Int]) throws {
        let codes = try #require(StatusCodes(text))
        #expect(members.allSatisfy(codes.contains))
        #expect(!others.contains(where: codes.contains))
        #expect(StatusCodes(codes.description) == codes)
    }

    @Test(
        "Text that is not a list of status codes is refused",
        arguments: ["", ",", "200,", "99", "600", "529-520", "4xx", "-5", "200-", "2 00", "99999999999999999999"])
    func noCodes(text: String) { #expect(StatusCodes(text) == nil) }

    @Test(
        "A type is compared without its parameters and its case",
        arguments: ["application/zip", "Application/ZIP; charset=binary", "application/zip;x=y"])
    func wantedType(value: String) {
        let head = ResponseHead.whole(10, [("Content-Type", value)])
        #expect(verdict(Self.types("application/zip"), of: head) == .body(offset: 0, end: 10, total: 10))
        #expect(verdict(Self.types("image/*", "application/zip"), of: head) == .body(offset: 0, end: 10, total: 10))
    }

    @Test("Another type, or no type, is refused; if it is HTML, the error suggests a login page")
    func unwantedType() throws {
        let page = ResponseHead.whole(10, [("Content-Type", "text/html; charset=utf-8")])
        let failure = try #require(self.failure(Self.types("application/zip", "image/*"), of: page))
        #expect(failure == .unwantedType(wanted: "application/zip, image/*", is: "text/html"))
        #expect(failure.description.contains("login"))
        let part = ResponseHead.part(0..<10, of: 10, [("Content-Type", "text/plain")])
        #expect(self.failure(Self.types("image/*"), of: part) == .unwantedType(wanted: "image/*", is: "text/plain"))
        #expect(self.failure(Self.types("image/*"), of: .whole(10)) == .unwantedType(wanted: "image/*", is: nil))
        let many = ResponseValidation(types: Array(repeating: try #require(MediaRange("a/b")), count: 5000))
        #expect(self.failure(many, of: page)?.description.contains("a/b, a/b or one of 4990 others") == true)
        #expect(DownloadError.verificationFailed(failure).exitStatus == 9)
        #expect(!DownloadError.verificationFailed(failure).isTransient)
    }

    @Test(
        "If no codes are given, 200 and 206 are accepted; otherwise the given codes, and also 206 if 200 is given",
        arguments: [
            (nil, [200, 206], [203, 404]), ("200", [200, 206], [203, 404]), ("203", [203], [200, 206, 404]),
            ("200,203", [200, 203, 206], [404]), ("200,404", [200, 404, 206], [403]), ("206", [206], [200]),
        ] as [(String?, [Int], [Int])])
    func statuses(codes: String?, taken: [Int], refused: [Int]) {
        let validation = ResponseValidation(statuses: codes.flatMap { StatusCodes($0) })
        func isTaken(_ status: Int) -> Bool {
            let head: ResponseHead = status == 206 ? .part(0..<10, of: 10) : .of(status, [("Content-Length", "10")])
            return verdict(validation, of: head) == .body(offset: 0, end: 10, total: 10)
        }
        #expect(taken.allSatisfy(isTaken))
        #expect(!refused.contains(where: isTaken))
    }

    @Test("A 404 that is not listed keeps its own error; a 200 that is not listed is a failed verification")
    func wrongStatus() {
        let validation = ResponseValidation(statuses: StatusCodes("203"))
        #expect(
            verdict(validation, of: .of(404)) == .failed(.serverRefused(status: 404, phrase: "")))
        #expect(failure(validation, of: .whole(10)) == .unwantedStatus(wanted: "203", is: "200"))
    }

    @Test("An answer without content is an empty file if its status is accepted", arguments: [204, 205])
    func noContent(status: Int) {
        let validation = ResponseValidation(statuses: StatusCodes("200-299"))
        #expect(verdict(validation, of: .of(status)) == .body(offset: 0, end: 0, total: 0))
    }

    @Test("The size limit applies to the whole file, even if the answer is only a part of the file")
    func size() {
        let validation = ResponseValidation(maximumSize: 1000)
        #expect(verdict(validation, of: .whole(1000)) == .body(offset: 0, end: 1000, total: 1000))
        #expect(failure(validation, of: .whole(1001)) == .tooLarge(limit: 1000, size: 1001))
        #expect(failure(validation, of: .part(0..<10, of: 1001)) == .tooLarge(limit: 1000, size: 1001))
        let unknown = ResponseHead.of(200, [("Transfer-Encoding", "chunked")])
        #expect(verdict(validation, of: unknown) == .body(offset: 0, end: nil, total: nil))
    }
}
