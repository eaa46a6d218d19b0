import ArgumentParser

/// `--content-disposition` and its opposite. Both flags have their own texts in help, manual and completions.
enum ContentDispositionFlag: EnumerableFlag {
    case contentDisposition, noContentDisposition

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .contentDisposition: "Use the file name that the server sends (Content-Disposition). Default: on."
        case .noContentDisposition: "Use the file name in the URL, even if the server sends another name."
        }
    }
}

/// `--remote-time` and its opposite.
enum RemoteTimeFlag: EnumerableFlag {
    case remoteTime, noRemoteTime

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .remoteTime: "Set the file's modification time to the time in Last-Modified. Default: off."
        case .noRemoteTime: "Set the modification time to the time of the download."
        }
    }
}

/// `--hsts` and its opposite.
enum HSTSFlag: EnumerableFlag {
    case hsts, noHsts

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .hsts: "Remember hosts that require https (HSTS), and use https for these hosts. Default: on."
        case .noHsts: "Use the scheme of the URL, and do not remember hosts that require https."
        }
    }
}

/// `--follow-metalink` and its opposite.
enum FollowMetalinkFlag: EnumerableFlag {
    case followMetalink, noFollowMetalink

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .followMetalink:
            """
            If the server sends a Metalink document, download the file that it describes. Also use a document that \
            the server names (Link: rel=describedby). Default: on.
            """
        case .noFollowMetalink: "Download a Metalink document as a file, and ignore a document that the server names."
        }
    }
}

/// `--notify` and its opposite.
enum NotifyFlag: EnumerableFlag {
    case notify, noNotify

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .notify:
            """
            Notify on the desktop (notify-send) when a download is complete or has failed. In a terminal, also ring \
            the bell when the command ends, and without a desktop send a notification (OSC 9 or 99). Default: off.
            """
        case .noNotify: "Send no notifications, and do not ring the bell."
        }
    }
}
