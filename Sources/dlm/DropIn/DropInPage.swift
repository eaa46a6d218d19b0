/// The text of docs/drop-in.md, made from the tables by `dlm manual --drop-in`.
enum DropInPage {
    static var text: String {
        let lines = [introduction] + DropInProgram.allCases.map(section) + [statuses]
        return lines.joined(separator: "\n\n") + "\n"
    }

    private static let introduction = """
        # dlm in the place of aria2c, wget and curl

        <!-- made by make generate from the tables in Sources/dlm/DropIn -->

        Called by the name `aria2c`, `wget` or `curl`, dlm takes the options of that program for downloads. The package has
        links of these names in `/usr/lib/dlm/compat` (`make install`: `$(PREFIX)/lib/dlm/compat`). Put that folder first
        in the PATH of whoever is to use dlm:

        ```
        PATH=/usr/lib/dlm/compat:$PATH yt-dlp --downloader aria2c URL
        ```

        - An option that dlm cannot follow ends the command with an error. It names the option and the real program, if PATH
          has one. Options that change nothing about the file are accepted. Where dlm goes on without an option, it says so.
        - Standard output stays empty unless the file goes there. Messages go to standard error, and `-q` or `-s` leaves errors.
        - A file that is being fetched is `NAME.part`, and dlm remembers the download: the same command goes on where the last
          one stopped. dlm retries by its own rules where the command line does not say how often.
        - dlm does not save the page that comes with an error. `curl` without `-f` fails with status 22 like `curl -f`.
        - `curl` without `-L` does not follow a redirect, and fails with status 47 instead of saving the redirect.
        - What nothing proves to be whole, such as a body that only the end of its connection ends, is an error.
        - The settings of dlm (`config.yaml`, `DLM_` variables) apply where the command line says nothing, except for the folder
          and for what happens where a name is taken.
        - Long options may be shortened as long as only one option of the table begins so.
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
        lines += grouped(program, "Accepted, because:") {
            if case .needless(let why) = $0.effect { why } else { nil }
        }
        lines += grouped(program, "Left out, with a notice, because:") {
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

        They are those of the program: for `aria2c` those of aria2c(1) (3 not found, 13 the file exists, 28 a wrong option,
        32 a wrong checksum), for `wget` 1 to 8, for `curl` those of curl(1) (6 no such host, 7 no connection, 18 broken off,
        22 an answer that is an error, 23 the file, 28 too slow, 47 redirects, 60 the certificate).
        """
}
