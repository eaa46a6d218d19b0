@testable import dlm

/// A section of a manual page other than the options and the examples.
struct ManualSection {
    enum Part {
        case text(String)
        /// The lines of a file.
        case block(String)
        case entry(String, String)
    }

    let title: String
    let parts: [Part]
}

extension ManualText {
    static func sections(for command: String) -> [ManualSection] {
        switch command {
        case "get": [lists]
        case "config": [file, settings, hosts, rules]
        default: []
        }
    }

    /// The section of `dlm.1` about other names of commands.
    static var otherNames: ManualSection {
        let names = CommandAlias.same.sorted { $0.key < $1.key }
            .map { "\($0.key) (dlm \($0.value.joined(separator: " ")))" }
        return ManualSection(
            title: "OTHER NAMES",
            parts: [
                .text(
                    """
                    dlm URL means dlm get URL. Some command names of other tools work, too: \
                    \(names.joined(separator: ", ")).
                    """),
                .text(
                    """
                    Short options can be written in one word, and the value of the last one can follow directly: \
                    -qx4 means -q -x 4.
                    """),
                .text(
                    """
                    If dlm is called by the name aria2c, wget or curl, it accepts the download options of \
                    the tool with that name. The folder lib/dlm/compat has links with these names. Put this folder \
                    first in PATH for programs that call aria2c, wget or curl.
                    """),
            ])
    }

    private static let rules = ManualSection(
        title: "RULES",
        parts: [
            .text(
                """
                Rules are settings for URLs, selected by host and path. host is a host name or a pattern, as in the \
                section HOSTS. path is a pattern for the whole path without the query, in which * stands for any \
                characters. A rule needs host or path, or both. All rules that match a URL apply. Later rules take \
                precedence over earlier rules, and rules over hosts.
                """),
            .block(
                """
                rules:
                  - path: "*.iso"
                    directory: ~/iso
                    connections: 4
                  - host: "*.example.org"
                    path: "/nightly/*"
                    limit-rate: 2M
                """),
        ])

    private static let lists = ManualSection(
        title: "LISTS",
        parts: [
            .text(
                """
                A list (-i) has one URL in each line. Blank lines and lines that begin with # are ignored. Lines below \
                a URL that begin with a space or a tab are options for this URL, in the form option=value. The names \
                are the long options above without the dashes, except the options for the whole command. The value of \
                a flag is true or false. These options take precedence over the options of the command line. Some \
                option names of aria2c(1) work, too: out, dir, split, max-download-limit and others.
                """),
            .block(
                """
                https://example.org/debian-12.iso
                  output=debian.iso
                  limit-rate=2M
                https://example.org/prices.csv
                  header=Accept-Language: de
                """),
            .text(
                """
                An invalid line is reported with its number, its URL is skipped, and the other URLs are downloaded. \
                The exit status is then 2, or 1 if a download failed, too. A URL from a pipe is started when the next \
                URL begins, or after a second. Options for a URL that has already started are refused.
                """),
        ])

    private static let file = ManualSection(
        title: "CONFIGURATION",
        parts: [
            .text(
                """
                config.yaml is a YAML file of settings. A setting has the name of the long option that does the same. \
                An environment variable for a setting is DLM_ with the name in capitals, and _ instead of -. Times are \
                written as 30, 30s, 5m, 2h or 30d, rates and sizes as 500k, 2M or 1.5GiB, and flags as true or false. \
                Paths may begin with ~/. Relative paths start at the folder in which dlm is called. Settings that can \
                be given several times are lists. Outside of hosts and rules, limit-rate limits all downloads of a \
                session together.
                """),
            .block(
                """
                directory: ~/Downloads
                limit-rate: 10M
                retries: 10
                hosts:
                  "*.example.org":
                    connections: 2
                    max-per-host: 4
                    header: ["X-Team: data", "Accept-Language: de"]
                """),
        ])

    /// The section about the settings. Its texts are the help texts of the options.
    private static var settings: ManualSection {
        let options = CommandDescription.arguments(of: SettingOptions.self)
        return ManualSection(
            title: "SETTINGS",
            parts: OptionScope.settings.map { key in
                .entry(key, options.first { $0.longName == key }?.abstract ?? "")
            })
    }

    private static var hosts: ManualSection {
        let excluded = OptionScope.session.sorted().joined(separator: ", ")
        return ManualSection(
            title: "HOSTS",
            parts: [
                .text(
                    """
                    Below hosts, settings apply to single hosts. All settings are possible there except \(excluded). \
                    In the name of a host, * stands for any characters: *.example.org means all hosts below \
                    example.org, but not example.org itself. If several entries match, each setting comes from the \
                    most specific entry that has the setting. A name is more specific than a pattern, and a longer \
                    pattern is more specific than a shorter pattern. Header fields are added to the fields of other \
                    entries, and replace fields of the same name. Below hosts, limit-rate limits each download.
                    """),
                .text(
                    """
                    The command that adds a download applies these settings to the download, even if the background \
                    session will run the download. max-per-host is different: the session that runs the downloads \
                    reads it, like max-concurrent, from the environment and the file when the session starts.
                    """),
            ])
    }
}
