import DownloadControl
import Foundation
import NIOHTTP1

/// A file of the web page. Its bytes are part of the program, so no request path leads to the file system.
struct PageFile: Sendable {
    let name: String
    let type: String
    let bytes: [UInt8]

    static let all = [
        PageFile(name: "index.html", type: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        PageFile(name: "page.css", type: "text/css; charset=utf-8", bytes: PackageResources.page_css),
        PageFile(name: "page.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.page_js),
        PageFile(name: "api.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.api_js),
        PageFile(name: "list.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.list_js),
        PageFile(name: "details.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.details_js),
        PageFile(name: "format.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.format_js),
        PageFile(name: "add.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.add_js),
        PageFile(name: "menu.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.menu_js),
        PageFile(name: "icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg),
        PageFile(name: "manifest.json", type: "application/manifest+json", bytes: PackageResources.manifest_json),
    ]

    static func named(_ path: [String]) -> PageFile? {
        guard path.count <= 1 else { return nil }
        let name = path.first ?? "index.html"
        return all.first { $0.name == name }
    }

    /// The content security policy. The page loads nothing from other servers, and no other page may show it in a
    /// frame. Inline scripts are forbidden, because the page shows file names that come from servers.
    private static let policy = """
        default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'
        """

    var answer: ControlAnswer {
        var answer = ControlAnswer(contentType: type, body: .whole(Data(bytes)))
        answer.headers.add(name: "Content-Security-Policy", value: Self.policy)
        answer.headers.add(name: "Referrer-Policy", value: "no-referrer")
        answer.headers.add(name: "Cross-Origin-Opener-Policy", value: "same-origin")
        answer.headers.add(name: "X-Frame-Options", value: "DENY")
        answer.headers.add(name: "Cache-Control", value: "no-cache")
        return answer
    }
}
