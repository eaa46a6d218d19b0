import ArgumentParser
import DownloadKit
import Foundation

struct Doctor: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find problems of this build and machine that hinder downloads.",
        discussion: """
            Checks libcurl, certificate authorities, proxies, settings, folders, file systems, the store and the \
            sessions. With a URL, it also makes one request for the first byte. Each line is ok, a warning or a \
            problem, with advice if there is any. The exit status is 0 without problems, otherwise the status that a \
            download would have because of the first problem. Nothing is downloaded, no store is created and no \
            session is started; passwords are not shown.
            """)

    @Argument(help: ArgumentHelp("The URL to test: http, https, ftp, ftps, sftp or scp.", valueName: "url"))
    var url: String?

    @OptionGroup var probe: ProbeOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run(in context: Context) async throws -> Int32 {
        let findings = await Examination(
            context: context, request: try request(in: context), asks: url != nil
        ).findings()
        let problems = findings.filter { $0.result == .problem }
        if output.json {
            for finding in findings { context.console.print(finding.json) }
        } else if output.quiet {
            for problem in problems {
                let advice = problem.advice.map { "; \($0)" } ?? ""
                context.console.report("\(problem.name): \(problem.detail)\(advice)")
            }
        } else {
            for line in FindingText(style: context.style(output)).lines(findings) { context.console.print(line) }
        }
        return Finding.exitStatus(findings)
    }

    /// Returns the request that `get` would make, but always as a plain GET without a body.
    private func request(in context: Context) throws -> DownloadRequest {
        var options = probe
        try options.prepare(in: context)
        let (address, credential) = try RequestMaker.address(url ?? "http://none.invalid/").get()
        if address.scheme == "file" {
            throw DownloadError.requestInvalid(
                .notForScheme(address.string, what: "dlm doctor tests servers, and this is a file on this machine"))
        }
        var request = DownloadRequest(url: address, destination: Destination(folder: "/"))
        // An error in the settings is reported as a finding.
        if let settings = try? context.settings() {
            let sections = url == nil ? [] : settings.sections(for: address)
            try settings.apply(to: &request, sections, in: context.workingFolder ?? "/")
        }
        try options.apply(to: &request)
        request.url = address
        request.credential = credential ?? request.credential
        (request.http.method, request.http.body, request.http.acceptsCompressed) = (nil, nil, nil)
        return request
    }
}
