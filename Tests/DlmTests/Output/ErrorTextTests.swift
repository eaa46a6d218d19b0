import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("The program names the options and commands that help against an error", .inTurn, .serialized)
struct ErrorTextTests {
    private static let sum = Checksum(algorithm: .md5, digest: "00")

    @Test(
        "An error has the words of the library, and the advice of the program",
        arguments: [
            (
                .fileFailed(.exists, path: "/a"),
                "/a: exists already; choose with --if-exists overwrite, rename, skip or newer"
            ),
            (
                .fileFailed(.replaced, path: "/a"),
                "/a: is not the file that this download wrote; move it away, or remove the download with dlm remove"
            ),
            (.fileFailed(.locked, path: "/a"), "/a: is being written by another process"),
            (
                .requestInvalid(.bodyNotForScheme("ftp://h/a")),
                "ftp://h/a: only http and https have request bodies (--data)"
            ),
            (
                .requestInvalid(.missingProtocol(scheme: "sftp")),
                "libcurl on this machine does not support sftp; to see what it supports, run: dlm doctor"
            ),
            (
                .requestInvalid(.missingSecrets(["Cookie"])),
                "needs Cookie again: secrets are not stored; give it to dlm resume"
            ),
            (
                .requestInvalid(.schemeNotAllowed("http://h/a", only: "https")),
                "http://h/a: only https URLs are allowed (--proto, --pinned-public-key)"
            ),
            (
                DownloadError.piecesUnknown,
                "the digests of its pieces are not known; a Metalink document with these digests is needed (-M)"
            ),
            (.authenticationFailed(status: 530), "530 login refused; give -u NAME:PASSWORD"),
            (.authenticationFailed(status: 401), "401 Unauthorized"),
            (
                .verificationFailed(.tooLarge(limit: 7, size: 8)),
                "has 8 bytes, more than the limit of 7; nothing was fetched (--max-size)"
            ),
            (
                .verificationFailed(.otherFile("size")),
                "the new URL has a different file: size; the fetched bytes are kept; give the right URL with dlm set-url"
            ),
            (
                .verificationFailed(.checksum(expected: sum, actual: "ff")),
                "checksum does not match: expected md5:00, got ff"
            ),
            (
                .networkFailed(.timeLimit, TransportDiagnosis(code: 0, message: "the limit of 2 s has passed")),
                "not complete in time: the limit of 2 s has passed (--max-time)"
            ),
            (
                .serverRefused(status: 403, phrase: "Forbidden; \(DownloadError.newLinkCommand) printed no URL"),
                "403 Forbidden; --url-command printed no URL"
            ),
        ] as [(DownloadError, String)])
    func texts(error: DownloadError, text: String) {
        #expect(ErrorText.describe(error) == text)
        #expect(Redaction.describe(error) == text)
    }

    @Test("A list that is older and another key have a way on")
    func signers() {
        let date = Date(timeIntervalSince1970: 0)
        let older = DownloadError.verificationFailed(.olderList(document: "u", signed: date, seen: date))
        #expect(ErrorText.describe(older) == "\(older); if this is right, give --allow-rollback")
        let other = DownloadError.verificationFailed(
            .otherSigner(document: "u", key: "AB", pinned: "CD", since: date))
        #expect(ErrorText.describe(other).hasSuffix("choose the key with --signed-by, for OpenPGP as FILE#AB"))
    }

    @Test("Errors about unproved parts and overlong bodies suggest --allow-unverified")
    func unverified() {
        for error in [DownloadError.partsUnproved, EndedTransfer.overlong] {
            #expect(ErrorText.describe(error) == "\(error); give --checksum or --allow-unverified")
        }
        #expect(ErrorText.restart(.versionUnproved).hasSuffix("(--allow-unverified compares the last 64 KiB)"))
        #expect(ErrorText.restart(.other("the file changed")) == "starts over: the file changed")
    }
}
