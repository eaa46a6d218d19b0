/// The text of docs/aria2.md, made from the tables. A test compares it with the file.
enum Aria2Document {
    static var text: String {
        [beginning, optionTables, methods, ending].joined(separator: "\n")
    }

    private static let beginning = """
        # aria2's RPC

        `dlm daemon start --rpc` answers aria2's JSON-RPC 2.0 at `/jsonrpc`, by POST and over a WebSocket, so that programs made
        for aria2 work with dlm: AriaNg, aria2p, browser extensions. How the server is reached and protected, and how a browser
        extension hands downloads over, is in [web.md](web.md).

        This page is made from the tables in the program; a test fails when it is stale.

        ## Options

        Options that neither aria2 nor dlm knows are ignored, as in aria2. A bad value of an option that is meant is an error.

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
            ### Meant

            \(meant)
            ### Accepted without effect

            \(ignored)
            ### Refused

            Giving one of these is an error.

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
        - A WebSocket is told what happens after its first call with the secret. Programs on the same machine are told
          at once, unless their `Origin` is that of another page, because aria2p listens without a secret; a notification holds a
          GID and nothing else.
        - There is no GET and no JSONP: a link on any web page could call them.
        - BitTorrent is not spoken: `aria2.addTorrent`, `aria2.getPeers` and `magnet:` links answer an error.
        - All downloads of the store are shown, those of `dlm get` in a terminal included.
        - The file has its final name only once it is whole; until then it is `NAME.part`.
        - An address that was asked for before, with the same folder and name, is the same download: `addUri` goes on with it
          and answers a new GID; the old one is forgotten by `removeDownloadResult`.
        - `aria2.remove` keeps what was fetched, as a result with the status `removed`; a download that has fetched nothing is
          forgotten. `aria2.removeDownloadResult` of an unfinished download deletes its partial file; finished files stay.
        - `aria2.changePosition` changes priorities (`dlm priority`), so the order holds across restarts.
        - `aria2.changeUri`: the first URI is the address of the download, the others are mirrors, and the last one cannot be
          deleted.
        - `aria2.changeOption` of most options pauses a running download and lets it go on where it was.
        - `aria2.changeGlobalOption` holds until the background session ends; config.yaml is for longer.
        - `aria2.getVersion` answers 1.37.0, because clients compare it, and dlm's own version as `dlm`.
        - `aria2.saveSession` answers OK: everything is on disk already.
        - XML-RPC is not spoken.

        """
}
