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
        [authorities.file.map(file), authorities.folder.map(folder)].compactMap(\.self)
    }

    private static func file(_ path: String) -> AuthorityCheck {
        do {
            let text = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).readToEnd() ?? Data()
            let count = ["CERTIFICATE", "TRUSTED CERTIFICATE"].map {
                text.ranges(of: Data("-----BEGIN \($0)-----".utf8)).count
            }
            return AuthorityCheck(path: path, isFolder: false, count: count.reduce(0, +))
        } catch {
            return AuthorityCheck(path: path, isFolder: false, count: nil, failure: reason(path))
        }
    }

    private static func folder(_ path: String) -> AuthorityCheck {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            return AuthorityCheck(path: path, isFolder: true, count: nil, failure: reason(path))
        }
        // OpenSSL reads only files with names of this form: 8 hexadecimal digits, a dot and a number
        // (X509_LOOKUP_hash_dir(3)).
        let hashed = names.filter { $0.wholeMatch(of: /[0-9a-f]{8}\.[0-9]+/) != nil }
        return AuthorityCheck(path: path, isFolder: true, count: hashed.count)
    }

    private static func reason(_ path: String) -> String {
        access(path, R_OK) == 0 ? "cannot be read" : String(cString: strerror(errno))
    }
}
