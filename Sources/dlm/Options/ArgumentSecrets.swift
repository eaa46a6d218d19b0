import DownloadKit

/// The arguments as `ps` shows them to every user of the machine: a password in a URL and the value of a secret header
/// field are overwritten as soon as they have been read, as curl does with its own.
enum ArgumentSecrets {
    /// After this ``CommandLine/arguments`` must have been read.
    static func hide(in arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv) {
        var isHeader = false
        for index in 1... {
            guard let argument = arguments[index] else { return }
            let bytes = Array(String(cString: argument).utf8)
            for range in secrets(in: bytes, isHeader: isHeader) {
                for position in range { argument[position] = CChar(UInt8(ascii: "*")) }
            }
            isHeader = takesHeader(bytes)
        }
    }

    /// - Parameter isHeader: it is the value of an `-H` before it.
    static func secrets(in argument: [UInt8], isHeader: Bool) -> [Range<Int>] {
        let prefix = isHeader ? 0 : ["--header=", "-H=", "-H"].first { argument.starts(with: $0.utf8) }?.utf8.count
        if let prefix, let colon = argument.firstIndex(of: UInt8(ascii: ":")), colon >= prefix,
            RequestHeader(String(decoding: argument[prefix...], as: UTF8.self))?.isSecret ?? true
        {
            return [colon + 1..<argument.count]
        }
        return Redaction.secrets(in: argument)
    }

    /// `-H`, also behind other letters, and `--header`.
    private static func takesHeader(_ argument: [UInt8]) -> Bool {
        let isShort = argument.first == UInt8(ascii: "-") && argument.last == UInt8(ascii: "H")
        return isShort && !argument.starts(with: "--".utf8) || argument.elementsEqual("--header".utf8)
    }
}
