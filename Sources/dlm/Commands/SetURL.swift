import ArgumentParser
import DownloadKit

struct SetURL: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-url",
        abstract: "Continue a download from another URL.",
        discussion: """
            Use this command if a link has expired. The fetched bytes are kept and compared with the file at the new \
            URL, so that two different files are never mixed. Secrets given for one host are not sent to another host.
            """)

    @Argument(
        help: ArgumentHelp("The number of the download.", valueName: "id"), completion: DownloadCompletion.ids,
        transform: IDRange.init(argument:))
    var id: IDRange

    @Argument(help: ArgumentHelp("The new URL, of any scheme that dlm get supports.", valueName: "url"))
    var url: String

    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        if id.ids.count != 1 { throw ValidationError("give a single download") }
    }

    func run(in context: Context) async throws -> Int32 {
        let (address, credential) = try RequestMaker.address(url).get()
        let hasPassword = credential?.password?.isEmpty == false
        let changing = Changing(
            context: context, output: output, event: "changed", text: "continues from \(address)",
            note: { snapshot in
                hasPassword && snapshot.isAttended != true
                    ? "no session runs it, and passwords are not stored; to continue, run dlm get with the whole URL"
                    : nil
            })
        return try await changing.apply(.url(address, credential), to: .ids([id.ids.lowerBound])) { snapshot in
            snapshot.record.state == .completed ? "completed already" : "has that URL already"
        }
    }
}
