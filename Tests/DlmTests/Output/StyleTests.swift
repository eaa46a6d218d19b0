import DownloadTestSupport
import Testing

@testable import dlm

@Suite("Colours", .inTurn, .serialized)
struct StyleTests {
    struct Case: Sendable {
        var choice = ColorChoice.auto
        var isTerminal = true
        var environment: [String: String] = [:]
        let isColored: Bool
    }

    @Test(
        "The option beats NO_COLOR, which beats CLICOLOR_FORCE, which beats CLICOLOR",
        arguments: [
            Case(isColored: true), Case(isTerminal: false, isColored: false),
            Case(environment: ["NO_COLOR": "1"], isColored: false),
            Case(environment: ["NO_COLOR": ""], isColored: true),
            Case(environment: ["CLICOLOR": "0"], isColored: false),
            Case(environment: ["CLICOLOR": "1"], isColored: true),
            Case(environment: ["TERM": "dumb"], isColored: false),
            Case(isTerminal: false, environment: ["CLICOLOR_FORCE": "1"], isColored: true),
            Case(isTerminal: false, environment: ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], isColored: false),
            Case(choice: .always, isTerminal: false, environment: ["NO_COLOR": "1"], isColored: true),
            Case(choice: .never, environment: ["CLICOLOR_FORCE": "1"], isColored: false),
        ])
    func colors(choice: Case) {
        let style = Style.chosen(choice.choice, isTerminal: choice.isTerminal, environment: choice.environment)
        #expect(style.isColored == choice.isColored)
    }

    @Test(
        "Paths are links in terminals that are known to have links, and not behind a multiplexer",
        arguments: [
            ([:], false), (["VTE_VERSION": "7600"], true), (["VTE_VERSION": "4000"], false),
            (["TERM_PROGRAM": "WezTerm"], true), (["TERM_PROGRAM": "Apple_Terminal"], false),
            (["TERM": "xterm-kitty"], true), (["WT_SESSION": "1"], true), (["WT_SESSION": "1", "TMUX": "/x"], false),
            (["WT_SESSION": "1", "TERM": "dumb"], false),
        ] as [([String: String], Bool)])
    func links(environment: [String: String], hasLinks: Bool) {
        let style = Style.chosen(.auto, isTerminal: true, environment: environment)
        #expect(style.hasLinks == hasLinks)
        #expect(style.link("x", to: "/a b").contains("]8;;file://") == hasLinks)
        #expect(style.link("x", to: "/a b").hasSuffix("/a%20b\u{1B}\\x\u{1B}]8;;\u{1B}\\") == hasLinks)
        #expect(style.link("x", to: nil) == "x")
        #expect(!Style.chosen(.always, isTerminal: false, environment: environment).hasLinks)
    }

    @Test(
        "A locale that is not UTF-8 gets ASCII",
        arguments: [
            ([:], true), (["LANG": "de_DE.UTF-8"], true), (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], false),
            (["LANG": "de_DE.ISO-8859-1"], false), (["LC_CTYPE": "C.utf8", "LANG": "C"], true), (["LC_ALL": ""], true),
        ] as [([String: String], Bool)])
    func unicode(environment: [String: String], isUnicode: Bool) {
        #expect(Style.chosen(.auto, isTerminal: true, environment: environment).isUnicode == isUnicode)
    }

    @Test("Without colours no escape sequence is written")
    func plain() {
        #expect(Style(isColored: false).good("ok") == "ok")
        #expect(Style(isColored: true).good("ok") == "\u{1B}[32mok\u{1B}[0m")
        #expect(Style(isColored: true).good("") == "")
    }
}
