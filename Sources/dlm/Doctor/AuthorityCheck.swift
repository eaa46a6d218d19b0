import DownloadKit
import Foundation

/// The check of a file or a folder with certificate authorities.
struct AuthorityCheck: Equatable, Sendable {
    let path: String
    let isFolder: Bool
    /// The number of certificates; nil if the file or folder cannot be read.
    let count: Int?
    /// The reason why the file or folder cannot be read; nil if it can.
    var failure: String?

    var text: String {
        guard let count else { return failure ?? "cannot be read" }
        if count == 0 { return isFolder ? "no certificate named by its hash" : "no certificate in it" }
        return Units.count(count, "certificate")
    }

    static func checks(_ authorities: TransportFeatures.Authorities) -> [AuthorityCheck] {
        [
            authorities.file.map { check($0, isFolder: false, count(inFile: $0)) },
            authorities.folder.map { check($0, isFolder: true, count(inFolder: $0)) },
        ].compactMap(\.self)
    }

    private static func check(_ path: String, isFolder: Bool, _ count: Int?) -> AuthorityCheck {
        let why = access(path, R_OK) == 0 ? "cannot be read" : String(cString: strerror(errno))
        return AuthorityCheck(path: path, isFolder: isFolder, count: count, failure: count == nil ? why : nil)
    }

    private static func count(inFile path: String) -> Int? {
        guard let file = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path)),
            let text = try? file.readToEnd() ?? Data()
        else { return nil }
        return ["CERTIFICATE", "TRUSTED CERTIFICATE"].reduce(0) {
            $0 + text.ranges(of: Data("-----BEGIN \($1)-----".utf8)).count
        }
    }

    private static func count(inFolder path: String) -> Int? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return nil }
        // OpenSSL reads only files with names of this form: 8 hexadecimal digits, a dot and a number
        // (X509_LOOKUP_hash_dir(3)).
        return names.count { $0.wholeMatch(of: /[0-9a-f]{8}\.[0-9]+/) != nil }
    }
}
