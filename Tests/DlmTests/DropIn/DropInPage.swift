@testable import dlm

/// The text of docs/drop-in.md, made from the tables.
enum DropInPage {
    static var text: String {
        let lines = [introduction] + DropInProgram.allCases.map(section) + [statuses]
        return lines.joined(separator: "\n\n") + "\n"
    }

    private static let introduction = """
        # dlm in the place of aria2c, wget and curl

        <!-- made by make generate from the tables in Sources/dlm/DropIn -->

        If dlm is called by the name `aria2c`, `wget` or `curl`, it accepts the download options of the tool with that
        name. The package has links with these names in `/usr/lib/dlm/compat` (`make install`: `$(PREFIX)/lib/dlm/compat`).
        Put this folder first in the PATH of the programs that should use dlm:

        ```
        PATH=/usr/lib/dlm/compat:$PATH yt-dlp --downloader aria2c URL
        ```

        - Options that dlm does not need are accepted without effect; the lists below give the reasons. Some other
          options are ignored, and dlm reports this. Every other option that dlm does not support ends the command with
          an error. The error names the option, and the real program if PATH has it.
        - Standard output stays empty unless the file is written there. Messages go to standard error. With `-q` or `-s`, dlm
          still prints errors.
        - An unfinished file has the name `NAME.part`, and dlm remembers the download: the same command continues it where it
          stopped. If the command line does not set the number of retries, dlm's own default applies.
        - dlm does not save the page that a server sends with an error. `curl` without `-f` fails with status 22 like `curl -f`.
        - `curl` without `-L` does not follow a redirect, and fails with status 47 instead of saving the redirect.
        - A file that may be incomplete is an error, for example if only the end of the connection marks the end of the body.
        - The settings of dlm (`config.yaml`, `DLM_` variables) apply if the command line does not override them. The exceptions
          are the settings for which the real program has a default of its own: the folder, `if-exists`, `remote-time`,
          `content-disposition`, for aria2c and wget `netrc`, and for curl `max-redirects`.
        - A long option may be shortened to three letters or more if no other option of the table begins with these
          letters.
        """

    private static func section(_ program: DropInProgram) -> String {
        var lines = ["## \(program.rawValue)", "", "| option | dlm |", "|---|---|"]
        lines += rows(program) { option in
            switch option.effect {
            case .option(let name, _): "`--\(name)`"
            case .words(let words): "`\(words.joined(separator: " "))`"
            case .either(let on, let off):
                [(on, "true"), (off, "false")].filter { !$0.0.isEmpty }
                    .map { "\($0.1): `\($0.0.joined(separator: " "))`" }.joined(separator: ", ")
            case .part(let part): part.meaning
            case .needless, .ignored, .refused: nil
            }
        }
        lines += grouped(program, "Accepted without effect, because:") {
            if case .needless(let why) = $0.effect { why } else { nil }
        }
        lines += grouped(program, "Ignored with a notice, because:") {
            if case .ignored(let why) = $0.effect { why } else { nil }
        }
        lines += grouped(program, "Refused, because:") {
            if case .refused(let why) = $0.effect { why } else { nil }
        }
        return lines.joined(separator: "\n")
    }

    private static func rows(_ program: DropInProgram, _ meaning: (DropInOption) -> String?) -> [String] {
        program.options.compactMap { option in
            meaning(option).map { "| \(names(option)) | \($0) |" }
        }
    }

    /// Returns a line for each reason, with all options that have the reason.
    private static func grouped(
        _ program: DropInProgram, _ title: String, _ reason: (DropInOption) -> String?
    ) -> [String] {
        var reasons: [String] = []
        var known: [String: [String]] = [:]
        for option in program.options {
            guard let why = reason(option) else { continue }
            if known[why] == nil { reasons.append(why) }
            known[why, default: []].append(names(option))
        }
        if reasons.isEmpty { return [] }
        return ["", title, ""] + reasons.map { "- \($0): \(known[$0, default: []].joined(separator: ", "))" }
    }

    private static func names(_ option: DropInOption) -> String {
        option.names.map { "`\($0)`" }.joined(separator: " ")
    }

    private static let statuses = """
        ## Exit statuses

        The exit statuses are those of the real program. `aria2c`: see aria2c(1); 3 means not found, 13 the file exists, 28 a
        wrong option, 32 a wrong checksum. `wget`: 1 to 8. `curl`: see curl(1); 6 means no such host, 7 no connection, 18 the
        transfer was cut, 22 an error status, 23 the file cannot be written, 28 a timeout, 47 too many redirects, 60 a bad
        certificate. If several downloads fail, the status is that of the last failure. It is never 0 then, although curl
        reports only the status of its last URL.
        """
}
