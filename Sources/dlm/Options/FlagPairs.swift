import ArgumentParser

/// A flag, such as `--hsts`, and its opposite, `--no-hsts`. Both have their own texts in help, manual and completions.
protocol FlagPair: EnumerableFlag {
    static var texts: (on: String, off: String) { get }
}

extension FlagPair {
    static var on: Self? { allCases.first }
    static var off: Self? { allCases.dropFirst().first }

    var isOn: Bool { self == Self.on }

    static func help(for value: Self) -> ArgumentHelp? {
        ArgumentHelp(value.isOn ? texts.on : texts.off)
    }
}

/// `--content-disposition` and its opposite.
enum ContentDispositionFlag: FlagPair {
    case contentDisposition, noContentDisposition

    static let texts = (
        on: "Use the file name that the server sends (Content-Disposition). Default: on.",
        off: "Use the file name in the URL, even if the server sends another name."
    )
}

/// `--remote-time` and its opposite.
enum RemoteTimeFlag: FlagPair {
    case remoteTime, noRemoteTime

    static let texts = (
        on: "Set the file's modification time to the time in Last-Modified. Default: off.",
        off: "Set the modification time to the time of the download."
    )
}

/// `--hsts` and its opposite.
enum HSTSFlag: FlagPair {
    case hsts, noHsts

    static let texts = (
        on: "Remember hosts that require https (HSTS), and use https for these hosts. Default: on.",
        off: "Use the scheme of the URL, and do not remember hosts that require https."
    )
}

/// `--follow-metalink` and its opposite.
enum FollowMetalinkFlag: FlagPair {
    case followMetalink, noFollowMetalink

    static let texts = (
        on: """
        If the server sends a Metalink document, download the file that it describes. Also use a document that \
        the server names (Link: rel=describedby). Default: on.
        """,
        off: "Download a Metalink document as a file, and ignore a document that the server names."
    )
}

/// `--notify` and its opposite.
enum NotifyFlag: FlagPair {
    case notify, noNotify

    static let texts = (
        on: """
        Notify on the desktop (notify-send) when a download is complete or has failed. In a terminal, also ring \
        the bell when the command ends, and without a desktop send a notification (OSC 9 or 99). Default: off.
        """,
        off: "Send no notifications, and do not ring the bell."
    )
}
