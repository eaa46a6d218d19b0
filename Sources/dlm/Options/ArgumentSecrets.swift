import DownloadKit

/// The removal of secrets from the arguments that `ps` shows to every user of the machine. A password in a URL and the
/// value of a secret header field are overwritten as soon as they have been read, as in curl.
enum ArgumentSecrets {
    /// Overwrites the secrets of a command line of dlm. ``CommandLine/arguments`` must be read before this call,
    /// because it reads the same memory.
    static func hide(in arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv) {
        var option: Option?
        for index in 1... {
            guard let argument = arguments[index] else { return }
            let bytes = Array(String(cString: argument).utf8)
            for range in secrets(in: bytes, of: option) {
                for position in range { argument[position] = CChar(UInt8(ascii: "*")) }
            }
            option = Option.taking(bytes)
        }
    }

    /// Overwrites the secrets of a command line in the syntax of another program.
    /// - Parameter secrets: the places of the secrets. The name of the program is not counted as an argument.
    static func hide(
        _ secrets: [DropInWord.Secret],
        in arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv
    ) {
        for secret in secrets {
            guard var place = arguments[secret.argument + 1] else { continue }
            for _ in 0..<secret.prefix where place.pointee != 0 { place += 1 }
            while place.pointee != 0 {
                place.pointee = CChar(UInt8(ascii: "*"))
                place += 1
            }
        }
    }

    /// Options whose values are secrets, or contain secrets.
    enum Option: String, CaseIterable {
        case header, user, data, query, proxy
        case dataUrlencode = "data-urlencode"

        private var letter: String? {
            switch self {
            case .header: "H"
            case .user: "u"
            default: nil
            }
        }

        /// Returns the option whose value is the next argument, such as `--header`, `-H`, or `-H` after other letters
        /// (`-kH`).
        static func taking(_ argument: [UInt8]) -> Option? {
            let text = String(decoding: argument, as: UTF8.self)
            if text.hasPrefix("--") { return Option(rawValue: String(text.dropFirst(2))) }
            guard let (option, prefix) = lettered(argument), prefix == argument.count else { return nil }
            return option
        }

        /// The letters of options without a value. In one argument, they may come before the letter of an option with a
        /// value.
        static let flags = Set("46bchkqv".utf8)

        /// Returns the option whose letter comes after a dash and the letters of flags, and the number of bytes before
        /// its value.
        private static func lettered(_ argument: [UInt8]) -> (option: Option, prefix: Int)? {
            guard argument.first == UInt8(ascii: "-"),
                let index = argument.dropFirst().firstIndex(where: { !flags.contains($0) })
            else { return nil }
            let letter = String(decoding: argument[index...index], as: UTF8.self)
            guard let option = allCases.first(where: { $0.letter == letter }) else { return nil }
            let isMarked = argument.count > index + 1 && argument[index + 1] == UInt8(ascii: "=")
            return (option, index + (isMarked ? 2 : 1))
        }

        /// Returns the option whose value is in the same argument, and the number of bytes before the value.
        static func given(in argument: [UInt8]) -> (option: Option, prefix: Int)? {
            if let found = lettered(argument) { return argument.count > found.prefix ? found : nil }
            for option in allCases {
                let mark = "--\(option.rawValue)="
                if argument.starts(with: mark.utf8), argument.count > mark.utf8.count {
                    return (option, mark.utf8.count)
                }
            }
            return nil
        }

        func secret(in value: ArraySlice<UInt8>) -> Range<Int>? {
            let mark = UInt8(ascii: self == .query ? "=" : ":")
            switch self {
            case .data, .dataUrlencode:
                return value.first == UInt8(ascii: "@") ? nil : value.startIndex..<value.endIndex
            case .proxy:
                return value.lastIndex(of: UInt8(ascii: "@")).map { value.startIndex..<$0 }
            case .header, .user, .query:
                guard let index = value.firstIndex(of: mark), isSecret(value, before: index) else { return nil }
                return index + 1..<value.endIndex
            }
        }

        private func isSecret(_ value: ArraySlice<UInt8>, before index: Int) -> Bool {
            switch self {
            case .header: RequestHeader(String(decoding: value, as: UTF8.self))?.isSecret ?? true
            case .query: RequestHeader.isSecretName(String(decoding: value[..<index], as: UTF8.self))
            case .user, .data, .dataUrlencode, .proxy: true
            }
        }
    }

    /// Returns the places of the secrets in an argument.
    /// - Parameter option: The option whose value is this argument; nil if the argument is not the value of an option.
    static func secrets(in argument: [UInt8], of option: Option?) -> [Range<Int>] {
        let given = option.map { ($0, 0) } ?? Option.given(in: argument)
        if let (option, prefix) = given, let range = option.secret(in: argument[prefix...]) { return [range] }
        return Redaction.secrets(in: argument)
    }
}
