import DownloadKit
import Glibc

enum FileLink {
    private static let programs = ["iTerm.app", "WezTerm", "ghostty", "vscode"]
    private static let terminals = ["xterm-kitty", "foot", "alacritty", "contour"]

    static func isSupported(_ environment: [String: String]) -> Bool {
        if environment.hasMultiplexer || environment["TERM"] == "dumb" { return false }
        // GNOME's terminals, from VTE 0.50 on.
        return environment["VTE_VERSION"].flatMap { Int($0) } ?? 0 >= 5000
            || programs.contains(environment["TERM_PROGRAM"] ?? "") || terminals.contains(environment["TERM"] ?? "")
            || ["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION"].contains(where: environment.has)
    }

    /// Returns the `file` URL of a path. It names the host, because the terminal may be on another one (RFC 8089).
    static func url(_ path: String) -> String {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        let name = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "file://" + escaped(name) + escaped(path)
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(UnicodeScalar(byte))
            default: result += "%" + UInt32(byte).padded(2, radix: 16).uppercased()
            }
        }
    }
}
