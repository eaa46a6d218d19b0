import ArgumentParser
import DownloadKit

/// The options for cookies. A cookie is sent only to URLs that match its domain, path and scheme, also after
/// redirects. Without these options, the cookies that servers set are kept in memory until the command ends.
struct CookieOptions: OptionTable {
    var cookieFile: String?
    var cookieJar: String?

    func validate() throws {
        if cookieFile == "" { throw ValidationError("--cookie-file: no file given") }
        if let cookieJar, cookieJar.isEmpty || cookieJar.hasSuffix("/") {
            throw ValidationError("--cookie-jar: no file given")
        }
    }

    mutating func rows(_ row: inout OptionRows) {
        row(
            &cookieFile, "cookie-file", .path("file"),
            "Send the cookies from this file (Netscape format), which is read at each attempt.",
            .file(\.secretFiles.cookies))
        row(
            &cookieJar, "cookie-jar", .path("file"),
            "Save all cookies to this file when a download ends. It may be the file of --cookie-file.",
            .file(\.secretFiles.cookieJar))
    }
}
