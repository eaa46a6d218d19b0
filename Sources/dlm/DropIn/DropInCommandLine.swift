/// The command lines of `dlm get` that do the same as a command line of another program.
struct DropInCommandLine: Equatable, Sendable {
    /// The command lines, which are run one after another. They do not include the name of the command.
    var lines: [[String]] = []
    /// The notices about options that dlm ignores, as text for the user.
    var notices: [String] = []
    /// The environment variables for libcurl and the settings.
    var environment: [String: String] = [:]
    /// The text to print instead of downloading anything: the version or the help.
    var information: DropInPart?
    /// The indices in ``lines`` of the command lines whose output is discarded, because the user gave /dev/null.
    var discarded: Set<Int> = []

    init(_ words: [DropInWord], of program: DropInProgram) throws(DropInFailure) {
        var parts = DropInParts(program: program)
        for word in words { try Self.add(word, to: &parts, &notices) }
        if let part = parts.information {
            information = part
            return
        }
        environment = parts.environment
        lines = try parts.lines()
        discarded = Set(lines.indices.filter(parts.discards))
    }

    private static func add(
        _ word: DropInWord, to parts: inout DropInParts, _ notices: inout [String]
    ) throws(DropInFailure) {
        let (written, value) = (word.written, word.value)
        let isOn = value != "false"
        switch word.option.effect {
        case .option(let name, let conversion):
            do throws(DropInConversion.Refusal) {
                guard let converted = try conversion.value(value ?? "") else { return }
                parts.options += DropInParts.words("--\(name)", converted)
            } catch {
                throw DropInFailure(parts.program, written, error.why)
            }
        case .words(let words): parts.options += words
        case .either(let on, let off): parts.options += isOn ? on : off
        case .part(let part):
            if let problem = parts.add(part, value, isOn: isOn) {
                throw DropInFailure(parts.program, written, problem)
            }
        case .needless: break
        case .ignored(let why):
            let notice = "\(parts.program.rawValue): \(written) is ignored: \(why)"
            if !notices.contains(notice) { notices.append(notice) }
        case .refused(let why):
            if isOn { throw DropInFailure(parts.program, written, why) }
        }
    }
}
