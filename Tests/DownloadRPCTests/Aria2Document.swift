@testable import DownloadRPC

/// The text of docs/aria2.md, made from the tables. A test compares it with the file.
enum Aria2Document {
    static var text: String {
        [beginning, optionTables, methods, ending].joined(separator: "\n")
    }

    private static let beginning = """
        # aria2's RPC

        `dlm daemon start --rpc` answers aria2's JSON-RPC 2.0 at `/jsonrpc`, by POST and over a WebSocket, and its XML-RPC at
        `/rpc`, so that programs made for aria2 work with dlm: AriaNg, aria2p, browser extensions. How the server is reached and
        protected, and how a browser extension hands downloads over, is in [web.md](web.md).

        This page is made from the tables in the program; a test fails when it is stale.

        ## Options

        Unknown options are ignored, as in aria2. A bad value of an option with an effect is an error.

        """

    private static var optionTables: String {
        var meant = "| option | default | what is different from aria2 |\n|---|---|---|\n"
        var ignored = "| option | why |\n|---|---|\n"
        var refused = ignored
        for option in Aria2Option.all.sorted(by: { $0.name < $1.name }) {
            switch option.use {
            case .meant:
                meant += "| `\(option.name)` | \(option.standard.map { "`\($0)`" } ?? "") | \(option.reason) |\n"
            case .ignored: ignored += "| `\(option.name)` | \(option.reason) |\n"
            case .refused: refused += "| `\(option.name)` | \(option.reason) |\n"
            }
        }
        return """
            ### Options with an effect

            \(meant)
            ### Options without an effect

            \(ignored)
            ### Refused options

            A call with one of these options is answered with an error.

            \(refused)
            """
    }

    private static var methods: String {
        let names = Aria2Method.all.map { "`\($0.name)`" }.joined(separator: ", ")
        return """
            ## Methods

            \(names).

            Notifications: \(Aria2Notification.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")).

            """
    }

    private static let ending = """
        ## What is different from aria2

        - There is always a secret. `system.listMethods` and `system.listNotifications` need none, as in aria2.
        - A WebSocket receives notifications after its first call with the secret. Programs on the same machine receive
          them at once, because aria2p listens without a secret. A connection whose `Origin` is a web page other than
          the server's own must give the secret first, even on the same machine. A notification contains only a GID.
        - There is no GET and no JSONP, because a link on any web page could use them for calls.
        - BitTorrent is not supported: `aria2.addTorrent` and `magnet:` links get an error.
        - All downloads of the store are shown, also those of `dlm get` in a terminal.
        - The file gets its final name only when it is complete. Until then its name is `NAME.part`.
        - The same URL with the same folder and name means the same download. If the download exists, `addUri` continues
          it and answers a new GID. `removeDownloadResult` with the old GID does not remove the download.
        - `aria2.remove` keeps the fetched bytes, and the result has the status `removed`. A waiting or paused download
          without any fetched bytes is removed from the list. `aria2.removeDownloadResult` of an unfinished download
          deletes its partial file. Finished files stay.
        - `aria2.changePosition` changes priorities (`dlm priority`), so the order stays the same after a restart.
        - `aria2.changeUri`: the first URI is the URL of the download, and the others are mirrors. The last remaining
          URI cannot be deleted.
        - `aria2.changeOption` changes how the next requests are sent: header fields, proxy, passwords, certificates and
          connections. A running download is paused for it and then continues. `max-download-limit` is changed without
          a pause. Options that only a new download can have, such as `dir`, `max-tries` and `checksum`, are errors
          unless they have the value that the download has. `continue` is accepted without effect.
        - The changes of `aria2.changeGlobalOption` apply until the background session ends. Permanent settings are in
          config.yaml.
        - `aria2.getVersion` answers 1.37.0, because clients compare the version.
        - `aria2.saveSession` only answers OK, because everything is on disk already.
        - An option with a list as its value is an error, unless it is `header`; aria2 ignores it.
        - With the wrong secret, XML-RPC answers a fault with status 200, and 429 if there were too many.

        ## Clients that were tried

        `make web-test` runs them. A call of a client that fails with aria2, too, does not count.

        | client | version | how |
        |---|---|---|
        | aria2p | 0.12.3 | JSON, WebSocket, command line |
        | aioaria2 | 1.3.7 | HTTP, and WebSocket with notifications |
        | aria2-rust | 0.3.11 | HTTP, WebSocket |
        | aria2jrpc | 0.0.2 | JSON |
        | ariarpc | 0.0.2.1 | JSON and XML-RPC |
        | a2rpc | 0.0.3 | command line |
        | aria2cli-agent | 1.1.0 | command line |
        | pyaria2 | 0.1.1 | XML-RPC |
        | aria2-json-rpc | 0.0.3 | XML-RPC, despite its name |
        | aria2rpc | 1.1.0 | XML-RPC |
        | aria2-rpc-client | 0.5.0 | XML-RPC |
        | py-ztj-aria2rpc | 0.0.4 | XML-RPC |
        | xmlrpc.client | Python 3.11 | XML-RPC |
        | AriaNg, webui-aria2, extensions | lists of their calls | HTTP, WebSocket |

        """
}
