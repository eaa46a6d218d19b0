import DownloadCore
import DownloadTestSupport
import Foundation
import Testing

@testable import dlm

@Suite("doctor: certificate authorities", .inTurn)
struct AuthorityCheckTests {
    @Test("In a file, certificates are counted; in a folder, only files that are named by their hashes count")
    func counts() throws {
        let folder = try TemporaryFolder()
        for name in ["ca", "none"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: false)
        }
        let begin = "-----BEGIN CERTIFICATE-----\n", trusted = "-----BEGIN TRUSTED CERTIFICATE-----\n"
        try folder.write(begin + trusted + begin, to: "bundle")
        for name in ["0a1b2c3d.0", "0a1b2c3d.1", "0A1B2C3D.0", "ca.pem"] { try folder.write(begin, to: "ca/\(name)") }
        try folder.write("", to: "none/empty")
        func texts(_ file: String?, _ directory: String?) -> [String] {
            let authorities = TransportFeatures.Authorities(
                file: file.map { folder($0) }, folder: directory.map { folder($0) })
            return AuthorityCheck.checks(authorities).map(\.text)
        }
        #expect(texts("bundle", "ca") == ["3 certificates", "2 certificates"])
        #expect(texts("ca/ca.pem", "none") == ["1 certificate", "no certificate named by its hash"])
        #expect(texts("none/empty", nil) == ["no certificate in it"])
        #expect(texts("gone", "gone") == ["No such file or directory", "No such file or directory"])
        #expect(texts("ca", nil) == ["cannot be read"])
    }
}
