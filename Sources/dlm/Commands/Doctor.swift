import ArgumentParser
import DownloadKit
import Foundation

/// `dlm doctor [URL]`: what this build and machine can do.
struct Doctor: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check what this build and machine can do, and what hinders downloads.",
        discussion: """
            Looks at libcurl, certificate authorities, proxies, settings, folders, file systems, the store and the \
            sessions; with a URL also at one request for its first byte. Each line is ok, a warning or a problem, with \
            what to do. Ends with status 0 when nothing is a problem, or else with the status that a download would \
            end with because of the first one. Nothing is downloaded, no store is made and no session started; \
            passwords are not shown.
            """)

    @Argument(help: ArgumentHelp("What to ask for: http or https.", valueName: "url"))
    var url: String?

    @OptionGroup(title: "Output") var output: OutputOptions

    func run(in context: Context) async throws -> Int32 {
        let asked = try url.map { try Self.request($0) }
        let findings = await Examination(context: context).findings(of: asked)
        let problems = findings.filter { $0.result.word == "problem" }
        if output.json {
            for finding in findings { context.console.print(FindingDocument(finding).json) }
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

    private static func request(_ text: String) throws -> DownloadRequest {
        let (address, credential) = try RequestMaker.address(text).get()
        var request = DownloadRequest(url: address, destination: Destination(folder: "/"))
        request.credential = credential
        return request
    }
}
