import ArgumentParser
import DownloadKit

/// The options for cookies. A cookie is sent only to URLs that match its domain, path and scheme, also after
/// redirects. Without these options, the cookies that servers set are kept in memory until the command ends.
struct CookieOptions: OptionTable {
    @Option(
        "Send the cookies from this file (Netscape format), which is read at each attempt.", value: "file",
        completion: .file())
    var cookieFile: String?

    @Option(
        "Save all cookies to this file when a download ends. It may be the file of --cookie-file.", value: "file",
        completion: .file())
    var cookieJar: String?

    func validate() throws {
        if cookieFile == "" { throw ValidationError("--cookie-file: no file given") }
        if let cookieJar, cookieJar.isEmpty || cookieJar.hasSuffix("/") {
            throw ValidationError("--cookie-jar: no file given")
        }
    }

    mutating func rows(_ row: inout OptionRows) {
        cookieFile = row("cookie-file", .path, cookieFile, .file(\.secretFiles.cookies))
        cookieJar = row("cookie-jar", .path, cookieJar, .file(\.secretFiles.cookieJar))
    }
}
