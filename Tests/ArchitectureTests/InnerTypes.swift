/// The types of the library that the program uses although they are not public. Everything else that `dlm` does, a user
/// of DownloadKit could do, too.
enum InnerTypes {
    struct Exception: Sendable {
        let reason: String
        let types: [String]
    }

    static let exceptions = [
        Exception(
            reason:
                "The language of the store and the session. If it were public, the schema could not change any more.",
            types: [
                "AddedDownload", "ChangedDownload", "ClaimedDownload", "DownloadChange", "DownloadRecord",
                "DownloadSelection",
                "EndedTransfer", "EventGroup", "HostKnowledge", "PreparedAddition", "ProofDocument", "ProofPlan",
                "ProofStrength",
                "RequestDocument", "RequestList",
                "FileSignature", "GivenKey", "SignatureCheck", "SigningKey",
                "SmallFile",
                "SmallFileEnd", "SourceBook", "SourceStanding", "Validators",
            ]),
        Exception(
            reason: "The program serves the sessions that the public DownloadSession talks to.",
            types: [
                "BackgroundSession", "DetachedProcess", "DownloadRouter", "DownloadService", "SessionDirectory",
                "SessionIdentifier", "SessionManager", "SessionSettings", "SessionStatus", "ShutdownMode",
            ]),
        Exception(
            reason: "Hooks start other programs. An app has events.",
            types: ["DueHook", "UserProgram", "HookRunner", "Hooks", "LinkFailure"]),
        Exception(
            reason: "What command lines and settings files are read into. An app builds a DownloadRequest.",
            types: [
                "DocumentKey", "FileNaming", "Form", "HostPattern", "LoadedSecrets", "MediaRange", "RateTimetable",
                "RequestOverrides", "ResponseValidation", "SecretFiles", "SegmentPlanner", "SourceScheme", "StartTime",
                "TransferOptions",
                "UserInformation",
            ]),
        Exception(
            reason: "What `dlm doctor` finds out.",
            types: [
                "ProbedRequest", "ResponseHead", "ServerAbilities", "SessionTrace", "StoreHealth",
                "TransportFeatures",
            ]),
        Exception(
            reason: "Files, processes and time. They are not about downloads, and all modules share them.",
            types: [
                "FileBytes", "FileHash", "FileStatus", "FreeDescriptors", "PrivateFolder", "ShellWord",
                "Signal",
                "SpeedMeter", "StreamOutput", "SystemTime", "TextDigest", "TimeLeftMeter", "TimeSource",
            ]),
    ]

    /// The modules that DownloadKit consists of.
    static let modules: Set = [
        "DownloadCore", "DownloadSystem", "DownloadEngine", "CurlTransport", "DownloadStorage", "DownloadControl",
        "DownloadKit",
    ]

    /// Returns the types of DownloadKit's modules that are `package`, and that the program names.
    static func used(in files: [SourceFile]) -> Set<String> {
        let inner = Set(files.filter { $0.isSource && modules.contains($0.module) }.flatMap { declared(in: $0.tokens) })
        let named = files.filter { $0.isSource && $0.module == "dlm" }.flatMap { names(in: $0.tokens) }
        return inner.intersection(named)
    }

    /// Returns the names of the `package` types that a file declares outside of other types.
    private static func declared(in tokens: [Token]) -> [String] {
        let kinds: Set = ["struct", "class", "enum", "protocol", "actor"]
        var (depth, names) = (0, [String]())
        for index in tokens.indices {
            switch Rule.text(tokens, index) {
            case "{": depth += 1
            case "}": depth -= 1
            case "package" where depth == 0:
                let isModified = ["final", "indirect", "nonisolated"].contains(Rule.text(tokens, index + 1))
                let kind = index + (isModified ? 2 : 1)
                if kinds.contains(Rule.text(tokens, kind)) { names.append(Rule.text(tokens, kind + 1)) }
            default: break
            }
        }
        return names
    }

    private static func names(in tokens: [Token]) -> [String] {
        tokens.indices.filter { Rule.text(tokens, $0 - 1) != "." }.map { Rule.text(tokens, $0) }
    }
}
