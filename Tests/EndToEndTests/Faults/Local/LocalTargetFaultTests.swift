import DownloadTestSupport
import Foundation
import Testing

extension EndToEnd {
    @Suite("Faults of the final name", .serialized, .timeLimit(.minutes(3)))
    struct LocalTargetFaultTests {
        /// The file that another program makes under the final name during the download.
        enum Newcomer: String, CaseIterable {
            case file, folder, fullFolder = "folder that is not empty", link, danglingLink = "dangling link", fifo

            func make(at path: String, aside: String) throws {
                let files = FileManager.default
                switch self {
                case .file: try Data("theirs".utf8).write(to: URL(fileURLWithPath: path))
                case .folder: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
                case .fullFolder:
                    try files.createDirectory(atPath: path, withIntermediateDirectories: false)
                    try Data("theirs".utf8).write(to: URL(fileURLWithPath: path + "/file"))
                case .link:
                    try Data("theirs".utf8).write(to: URL(fileURLWithPath: aside))
                    try files.createSymbolicLink(atPath: path, withDestinationPath: aside)
                case .danglingLink: try files.createSymbolicLink(atPath: path, withDestinationPath: "/nonexistent/x")
                case .fifo: #expect(mkfifo(path, 0o600) == 0)
                }
            }

            /// Expects that the file is still as it was made.
            func expectUntouched(at path: String, aside: String, _ what: Any) throws {
                var information = stat()
                #expect(lstat(path, &information) == 0, "\(what)")
                let expected =
                    switch self {
                    case .file: S_IFREG
                    case .folder, .fullFolder: S_IFDIR
                    case .link, .danglingLink: S_IFLNK
                    case .fifo: S_IFIFO
                    }
                #expect(information.st_mode & S_IFMT == expected, "\(what)")
                let text: String? =
                    switch self {
                    case .file: path
                    case .fullFolder: path + "/file"
                    case .link: aside
                    case .folder, .danglingLink, .fifo: nil
                    }
                if let text { #expect(try String(contentsOfFile: text, encoding: .utf8) == "theirs", "\(what)") }
            }
        }

        static let choices = ["fail", "overwrite", "rename", "skip", "newer"]

        @Test(
            "If another program takes the final name during the download, only --if-exists overwrite replaces its file")
        func taken() async throws {
            let newcomers = Newcomer.allCases.filter { FaultTrial.isFull || $0 == .file || $0 == .danglingLink }
            try await eachCell(Self.choices.flatMap { choice in newcomers.map { (choice, $0) } }) { choice, newcomer in
                try await taken(choice, newcomer)
            }
        }

        private func taken(_ choice: String, _ newcomer: Newcomer) async throws {
            // The server's file is a day old, so a file that another program makes during the download is newer.
            let reply = LocalTrial.reply(connections: 1).with {
                $0.lastModified = HTTPDate.string(Date(timeIntervalSinceNow: -86_400))
            }
            try await withDlm(serving: reply) { sandbox, server in
                let fault = "--if-exists \(choice), final name taken by a \(newcomer.rawValue)"
                let trial = LocalTrial(fault, moment: .middle, sandbox, server)
                let path = sandbox.file("file.bin")
                let aside = sandbox.root("files/aside")
                let process = try await trial.start(["--if-exists", choice])
                try newcomer.make(at: path, aside: aside)
                server.releaseEnds()
                let result = try await process.result()
                try Self.judge(result, choice, newcomer, trial, path, aside)
                if result.ending == .exited(0) { return }
                try FileManager.default.removeItem(atPath: path)
                // The partial file is complete, so nothing is fetched again.
                try await trial.expectRecovery(["--if-exists", choice], atMost: 0)
            }
        }

        private static func judge(
            _ result: ChildProcess.Result, _ choice: String, _ newcomer: Newcomer, _ trial: LocalTrial, _ path: String,
            _ aside: String
        ) throws {
            if choice == "overwrite", newcomer == .file { return try trial.judge(result, errors: []) }
            try newcomer.expectUntouched(at: path, aside: aside, "\(trial.trial) \(result.stderr)")
            if choice == "rename" { return try trial.judge(result, errors: [], as: "file (1).bin") }
            // dlm may not replace the file that has the final name.
            let isRight = result.ending == .exited(3) && result.stdout == "" && result.stderr.contains("exists already")
            #expect(isRight, "\(trial.trial) \(result)")
            trial.trial.note(result, isRight: isRight)
        }
    }
}
