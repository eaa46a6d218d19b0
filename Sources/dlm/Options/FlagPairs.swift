import ArgumentParser

/// `--content-disposition` and its opposite. Each of such a pair has its own words in help, manual and completions.
enum ContentDispositionFlag: EnumerableFlag {
    case contentDisposition, noContentDisposition

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .contentDisposition: "Take the name that the server gives the file. The default."
        case .noContentDisposition: "Take the file's name from the URL, whatever the server says."
        }
    }
}

/// `--remote-time` and its opposite.
enum RemoteTimeFlag: EnumerableFlag {
    case remoteTime, noRemoteTime

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .remoteTime: "Give the file the time at which it changed on the server (Last-Modified)."
        case .noRemoteTime: "Give the file the time of its download. The default."
        }
    }
}

/// `--hsts` and its opposite.
enum HSTSFlag: EnumerableFlag {
    case hsts, noHsts

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .hsts: "Remember hosts that want https alone (HSTS), and ask them over https. The default."
        case .noHsts: "Ask hosts as the URL says, and do not remember those that want https alone."
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
            Download the file that a Metalink document describes, where the server answers with one, and go by the one \
            that it names for its file (Link: rel=describedby). The default.
            """
        case .noFollowMetalink: "Download a Metalink document as it is, and ignore one that the server names."
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
            Give a notice at the end: on the desktop by notify-send where there is one, else by the bell of the terminal, \
            with the sequence for notices (OSC 9 or 99) where it has that.
            """
        case .noNotify: "Give no notice at the end. The default."
        }
    }
}
