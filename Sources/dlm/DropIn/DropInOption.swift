/// An option of another program, and its effect in dlm. The table of a program lists the options that dlm accepts under
/// that program's name. docs/drop-in.md is made from the tables.
struct DropInOption: Sendable {
    enum Value: Sendable {
        case none, required
        /// The value is `true` or `false`, after `=` or directly after a short name. Without a value, it is `true`.
        case boolean
    }

    enum Effect: Sendable {
        /// An option of `dlm get` with the same value, converted if dlm writes the value differently.
        case option(String, DropInConversion = .same)
        /// Options of `dlm get` that take no value from the command line.
        case words([String])
        /// Options of `dlm get` for a value of `true`, and for one of `false`.
        case either(on: [String], off: [String])
        /// A part of the command line whose effect depends on other options.
        case part(DropInPart)
        /// An option that dlm accepts without a notice, because it does not change the files, or dlm does the same
        /// anyway. The text is the reason.
        case needless(String)
        /// An option that dlm ignores with one notice. The text is the reason.
        case ignored(String)
        /// An option for which dlm refuses the command line, because the result would be different. The text is the
        /// reason.
        case refused(String)
    }

    /// The names of the option, with their dashes.
    let names: [String]
    let value: Value
    let effect: Effect
    /// Whether the value is hidden from the list of processes.
    var isSecret = false

    init(_ names: String, _ value: Value = .none, _ effect: Effect, isSecret: Bool = false) {
        self.names = names.split(separator: " ").map { String($0) }
        self.value = value
        self.effect = effect
        self.isSecret = isSecret
    }

    /// Returns an option for each long name. A short name, such as `-V`, belongs to the long name after it. After a long
    /// name, `=` stands for a value, and `?` for a boolean value.
    static func each(_ effect: Effect, isSecret: Bool = false, _ names: String) -> [DropInOption] {
        each(names) { names, value, _ in Self(names, value, effect, isSecret: isSecret) }
    }

    /// Returns an option for each long name, which `dlm get` has, too.
    static func same(
        as conversion: DropInConversion = .same, isSecret: Bool = false, _ names: String
    ) -> [DropInOption] {
        each(names) { names, value, long in
            Self(names, value, value == .none ? .words(["--" + long]) : .option(long, conversion), isSecret: isSecret)
        }
    }

    private static func each(
        _ names: String, _ option: (_ names: String, Value, _ long: String) -> DropInOption
    ) -> [DropInOption] {
        var letter = ""
        return names.split(separator: " ").compactMap { word in
            guard word.hasPrefix("--") else {
                letter = "\(word) "
                return nil
            }
            defer { letter = "" }
            let value: Value = word.last == "=" ? .required : word.last == "?" ? .boolean : .none
            let name = value == .none ? word : word.dropLast()
            return option(letter + name, value, String(name.dropFirst(2)))
        }
    }
}

/// A part of a command line whose effect depends on other options of the same command line.
enum DropInPart: String, Sendable {
    case output, folder, url, remoteName, list, userName, password, proxy, proxyUser, proxyPassword
    case connections, split, continues, overwrites, renames, skipsExisting, newerOnly
    case locatesRedirects, quiet, cookies, setting, globs, separate, timestamps, noTimestamps, noNetrc, allRemoteNames
    case version, help

    /// The hint for a user who gives the option to `dlm get`.
    var hint: String { "here it is " + meaning.replacing("`", with: "'") }

    /// The text about the option in docs/drop-in.md.
    var meaning: String {
        switch self {
        case .output: "`-o`, the name of the file"
        case .folder: "`-d`"
        case .url: "a URL"
        case .allRemoteNames: "`-o` with the last part of the URL's path, for each URL without `-o` or `-O`"
        case .remoteName: "`-o` with the last part of the URL's path"
        case .list: "`-i`"
        case .userName, .password: "`-u`, with the name and the password together"
        case .proxy, .proxyUser, .proxyPassword: "`--proxy`, with the name and the password in its URL"
        case .connections, .split: "`-x`; if both options are given, the smaller number applies"
        case .continues: "`-c`"
        case .overwrites: "`--if-exists overwrite`"
        case .renames: "`--if-exists rename`"
        case .skipsExisting: "`--if-exists skip`"
        case .newerOnly: "`--if-exists newer`"
        case .locatesRedirects:
            "redirects are followed; under the name `curl`, `--max-redirects 0` is the default"
        case .quiet: "`-q`; errors are still shown"
        case .cookies: "`--cookie-file` for a file, a header field `Cookie` for NAME=VALUE, nothing for an empty value"
        case .setting:
            "`http_proxy`, `https_proxy`, `ftp_proxy`, `no_proxy` and `use_proxy=off`; `robots` changes nothing"
        case .globs:
            "`--no-glob` for `-g` of curl; for `-P` of aria2c, patterns in URLs are expanded, and `--no-glob` is the "
                + "default under that name"
        case .separate: "each URL is a separate file"
        case .timestamps:
            "`--remote-time`; under the names `aria2c` and `curl`, `--no-remote-time` is the default"
        case .noTimestamps: "`--no-remote-time`; under the name `wget`, `--remote-time` is the default"
        case .noNetrc: "no `--netrc`; under the names `aria2c` and `wget`, `--netrc` is the default"
        case .version: "a version number in the form of the program"
        case .help: "a reference to this page"
        }
    }
}
