import CSystem
import DownloadKit
import Foundation
import Glibc

/// The command of `--url-command`, which prints a refreshed URL. It runs like a hook, but in a shell.
extension HookProgram.Runner {
    /// The greatest number of bytes that are read from standard output, and from standard error.
    static let most = 64 << 10
    /// The time limit of the command without `--hook-timeout`, in seconds.
    private static let standardTimeLimit = 60.0

    func newURL(
        for record: DownloadRecord, command: String, status: Int?
    ) async -> Result<String, LinkFailure> {
        let (output, errors) = (dlm_memory_box(Self.most), dlm_memory_box(Self.most))
        defer { for descriptor in [output, errors] where descriptor >= 0 { close(descriptor) } }
        guard output >= 0, errors >= 0 else {
            return .failure(LinkFailure("cannot be run: \(String(cString: strerror(errno)))"))
        }
        var variables = HookVariables.inherited(environment)
        variables["DLM_ID"] = "\(record.id)"
        variables["DLM_URL"] = Redaction.hidden(record.request.url.string)
        variables["DLM_NAME"] = record.displayName.replacing("\0", with: " ")
        if let status { variables["DLM_HTTP_STATUS"] = "\(status)" }
        let folder = record.request.destination.folder
        let limit = record.request.hooks?.timeLimit ?? Self.standardTimeLimit
        let problem = await UserProgram.run(
            "/bin/sh", ["-c", command], environment: variables, folder: access(folder, X_OK) == 0 ? folder : "/",
            input: record.request.url.string + "\n", outputs: (output, errors), within: limit,
            overdue: "was ended after \(Units.duration(limit)) (--hook-timeout)", said: { Self.firstLine(errors) },
            time: time)
        return problem.map { .failure(LinkFailure($0)) } ?? .success(Self.text(output))
    }

    /// Returns the first line of an output after a colon; an empty text if there is no output.
    static func firstLine(_ box: Int32) -> String {
        let line = text(box).split(whereSeparator: \.isNewline).first
        return line.map { ": \(Redaction.hidden(String($0.prefix(200))))" } ?? ""
    }

    /// Returns the text of an output, up to the first zero byte.
    private static func text(_ box: Int32) -> String {
        let bytes = FileBytes.read(box, 0..<Int64(most)) ?? []
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
