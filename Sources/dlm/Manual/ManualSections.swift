/// A section of a page that is about neither options nor examples.
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
                    dlm URL is dlm get URL. Some words of other tools work as commands, too: \
                    \(names.joined(separator: ", ")).
                    """),
                .text(
                    """
                    Letters of short options may stand in one word, with the value of the last one behind it: \
                    -qx4 is -q -x 4.
                    """),
                .text(
                    """
                    Called as aria2c, wget or curl, dlm takes the options of that program for downloads. The folder \
                    lib/dlm/compat beside that of the program has links of these names, to be put first in PATH for programs \
                    that call them.
                    """),
            ])
    }

    private static let rules = ManualSection(
        title: "RULES",
        parts: [
            .text(
                """
                Rules are settings for URLs by host and path. host is the name of a host as below hosts, path a pattern for \
                the whole path without the query, in which * stands for any characters; one of them is enough. All rules \
                that fit a URL count, later ones more than earlier ones, and rules more than hosts.
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
                A list (-i) has one URL a line; blank lines and those that begin with # are left out. Lines below a \
                URL that begin with a space or a tab are options for it, option=value: the long options above but for \
                those of the whole command, without the dashes; a flag is true or false. They come before the options \
                of the command line. Names of aria2(1) are understood where they mean the same: out, dir, split, \
                max-download-limit and others.
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
                A wrong line is told with its number, its URL is left out, and the others go on; the status is then 2, \
                or 1 if something else failed, too. A URL that comes through a pipe is begun as soon as the next line \
                begins, or after a second; options that come later are refused.
                """),
        ])

    private static let file = ManualSection(
        title: "CONFIGURATION",
        parts: [
            .text(
                """
                config.yaml is a YAML file of settings, each with the name of the long option that does the same. In \
                the environment the same setting is DLM_ and its name in capitals, with _ for -. Times are 30, 30s, \
                5m, 2h or 30d; rates and sizes 500k, 2M or 1.5GiB; flags true or false. Files and folders may begin \
                with ~/, and relative ones are seen from the folder in which dlm is called. What can be given several \
                times is a list. limit-rate is, outside of hosts, for all downloads of a session together.
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

    /// The section about the settings, made from the options themselves.
    private static var settings: ManualSection {
        ManualSection(
            title: "SETTINGS",
            parts: OptionScope.settings.map { key in
                .entry(key, CommandDescription.settings[key]?.abstract ?? "")
            })
    }

    private static var hosts: ManualSection {
        let excluded = OptionScope.session.sorted().joined(separator: ", ")
        return ManualSection(
            title: "HOSTS",
            parts: [
                .text(
                    """
                    Below hosts, settings count for single hosts only: all but \(excluded). In \
                    the name of a host, * stands for any letters and dots: *.example.org means all hosts below \
                    example.org, but not example.org itself. Where several match, each setting is taken from the closest \
                    one that has it: a name is closer than a pattern, and a longer pattern closer than a shorter one. \
                    Header fields are added to those of farther places, and take the place of fields of the same name. \
                    limit-rate is for each download here.
                    """),
                .text(
                    """
                    The command that asks for a download gives it these settings, also where it hands it to the background \
                    session. How many downloads run at a time, max-per-host included, is decided by the session that runs \
                    them, from its own environment and file as they were when it began.
                    """),
            ])
    }
}
