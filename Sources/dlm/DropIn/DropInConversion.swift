/// The conversion of another program's value into a value of `dlm get`.
enum DropInConversion: Sendable {
    case same
    /// The number of all attempts. dlm's option `--retries` counts only the attempts after the first. 0 and `inf` mean
    /// no limit.
    case attempts
    /// A time in seconds. 0 means the default of dlm.
    case time
    /// A checksum of the form `sha-256=HEX`.
    case digest
    /// A minimum version of TLS: `auto`, `TLSv1_2` or a similar form.
    case tls
    /// A token for `Authorization: Bearer`.
    case bearer
    /// A header field. The forms `Name;`, `Name:` and `@FILE` have special meanings in curl and are refused.
    case field
    /// A number of redirects. -1 means no limit.
    case redirects
    /// A body. The form `@FILE` is refused.
    case plainData

    /// The reason why a value is refused.
    struct Refusal: Error {
        let why: String
    }

    /// Returns the value for dlm, or nil if the option must be left out.
    func callAsFunction(_ value: String) throws(Refusal) -> String? {
        switch self {
        case .same: return value
        case .attempts:
            if value == "inf" || value == "0" { return "1000000" }
            guard let number = Int(value), number > 0 else {
                throw Refusal(
                    why: "'\(value)' is not a number of attempts")
            }
            return "\(min(number - 1, 1_000_000))"
        case .time: return Double(value) == 0 ? nil : value
        case .digest:
            guard let equals = value.firstIndex(of: "=") else { throw Refusal(why: "give TYPE=HEX") }
            let type = value[..<equals].lowercased().replacing("-", with: "")
            return "\(type):\(value[value.index(after: equals)...])"
        case .tls: return try Self.version(value)
        case .bearer: return "Authorization: Bearer \(value)"
        case .field:
            guard value.contains(":"), !value.hasSuffix(":"), !value.hasPrefix("@") else {
                throw Refusal(why: "dlm accepts only header fields of the form 'Name: value'")
            }
            return value
        case .redirects: return value == "-1" ? "1000" : value
        case .plainData:
            if value.hasPrefix("@") {
                throw Refusal(why: "dlm cannot send a body that begins with '@', or a file with its line breaks")
            }
            return value
        }
    }

    private static func version(_ value: String) throws(Refusal) -> String? {
        switch value.lowercased() {
        case "auto", "pfs", "tlsv1", "tlsv1_1", "tlsv1.0", "tlsv1.1": nil
        case "tlsv1_2", "tlsv1.2": "1.2"
        case "tlsv1_3", "tlsv1.3": "1.3"
        default: throw Refusal(why: "dlm knows TLS 1.2 and 1.3, and not '\(value)'")
        }
    }
}
