import ArgumentParser
import DownloadKit

/// The removal of secrets from the arguments that `ps` shows to every user of the machine. A password in a URL and the
/// value of a secret header field are overwritten as soon as they have been read, as in curl.
enum ArgumentSecrets {
    /// Overwrites the secrets of a command line of dlm. ``CommandLine/arguments`` must be read before this call,
    /// because it reads the same memory.
    static func hide(in arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv) {
        var secret: OptionSecret?
        for index in 1... {
            guard let argument = arguments[index] else { return }
            let bytes = Array(String(cString: argument).utf8)
            for range in secrets(in: bytes, of: secret) {
                for position in range { argument[position] = CChar(UInt8(ascii: "*")) }
            }
            secret = given(in: bytes).flatMap { $1 == bytes.count ? $0 : nil }
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

    /// Returns the places of the secrets in an argument.
    /// - Parameter secret: The secret of the option whose value is this argument; nil if the argument is not the value
    ///   of an option with a secret.
    static func secrets(in argument: [UInt8], of secret: OptionSecret?) -> [Range<Int>] {
        let given = secret.map { ($0, 0) } ?? given(in: argument).flatMap { $1 == argument.count ? nil : ($0, $1) }
        if let (secret, prefix) = given, let range = secret.range(in: argument[prefix...]) { return [range] }
        return Redaction.secrets(in: argument)
    }

    /// Returns the secret of the option in an argument, and the number of bytes before the option's value. These are
    /// all bytes if the value is the next argument. The option is a name (`--header`), or a letter (`-H`), which may
    /// come after the letters of flags (`-kH`).
    private static func given(in argument: [UInt8]) -> (secret: OptionSecret, prefix: Int)? {
        let dash = UInt8(ascii: "-")
        let equals = UInt8(ascii: "=")
        guard argument.first == dash, argument.count > 1 else { return nil }
        if argument[1] == dash {
            let mark = argument.firstIndex(of: equals)
            if mark == argument.count - 1 { return nil }
            let name = String(decoding: argument[2..<(mark ?? argument.count)], as: UTF8.self)
            return OptionCatalog.get.option(named: name)?.secret.map { ($0, mark.map { $0 + 1 } ?? argument.count) }
        }
        guard let index = argument.dropFirst().firstIndex(where: { !flags.contains($0) }),
            let secret = OptionCatalog.get.option(letter: Character(UnicodeScalar(argument[index])))?.secret
        else { return nil }
        let isMarked = argument.count > index + 1 && argument[index + 1] == equals
        return (secret, index + (isMarked ? 2 : 1))
    }

    /// The letters of options without a value. In one argument, they may come before the letter of an option with a
    /// value.
    static let flags = OptionCatalog.get.flagLetters.union("h".utf8)
}

/// The part of an option's value that is a secret.
enum OptionSecret {
    case header, user, data, query, proxy

    func range(in value: ArraySlice<UInt8>) -> Range<Int>? {
        let mark = UInt8(ascii: self == .query ? "=" : ":")
        switch self {
        case .data: return value.first == UInt8(ascii: "@") ? nil : value.startIndex..<value.endIndex
        case .proxy: return value.lastIndex(of: UInt8(ascii: "@")).map { value.startIndex..<$0 }
        case .header, .user, .query:
            guard let index = value.firstIndex(of: mark), isSecret(value, before: index) else { return nil }
            return index + 1..<value.endIndex
        }
    }

    private func isSecret(_ value: ArraySlice<UInt8>, before index: Int) -> Bool {
        switch self {
        case .header: RequestHeader(String(decoding: value, as: UTF8.self))?.isSecret ?? true
        case .query: RequestHeader.isSecretName(String(decoding: value[..<index], as: UTF8.self))
        case .user, .data, .proxy: true
        }
    }
}

/// The check that the arguments, as the system passes them, are UTF-8. `CommandLine.arguments` silently replaces other
/// bytes, so a file would get a different name than the user typed.
enum ArgumentEncoding {
    static func check(_ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv) throws {
        for index in 1... {
            guard let argument = arguments[index] else { return }
            if String(validatingCString: argument) == nil {
                throw ValidationError("argument \(index) is not UTF-8; give names and URLs in UTF-8")
            }
        }
    }
}
