/// The conversion of another program's value into a value of `dlm get`.
struct DropInConversion: Sendable {
    /// The reason why a value is refused.
    struct Refusal: Error {
        let why: String
    }

    /// Returns the value for dlm, or nil if the option must be left out.
    let value: @Sendable (String) throws(Refusal) -> String?

    static let same = Self { $0 }

    /// The number of all attempts. dlm's option `--retries` counts only the attempts after the first. 0 and `inf` mean
    /// no limit.
    static let attempts = Self { value throws(Refusal) in
        if value == "inf" || value == "0" { return "1000000" }
        guard let number = Int(value), number > 0 else { throw Refusal(why: "'\(value)' is not a number of attempts") }
        return "\(min(number - 1, 1_000_000))"
    }

    /// A time in seconds. 0 means the default of dlm.
    static let time = Self { Double($0) == 0 ? nil : $0 }

    /// A checksum of the form `sha-256=HEX`.
    static let digest = Self { value throws(Refusal) in
        guard let equals = value.firstIndex(of: "=") else { throw Refusal(why: "give TYPE=HEX") }
        let type = value[..<equals].lowercased().replacing("-", with: "")
        return "\(type):\(value[value.index(after: equals)...])"
    }

    /// A minimum version of TLS: `auto`, `TLSv1_2` or a similar form.
    static let tls = Self { value throws(Refusal) in
        switch value.lowercased() {
        case "auto", "pfs", "tlsv1", "tlsv1_1", "tlsv1.0", "tlsv1.1": return nil
        case "tlsv1_2", "tlsv1.2": return "1.2"
        case "tlsv1_3", "tlsv1.3": return "1.3"
        default: throw Refusal(why: "dlm knows TLS 1.2 and 1.3, and not '\(value)'")
        }
    }

    /// A token for `Authorization: Bearer`.
    static let bearer = Self { "Authorization: Bearer \($0)" }

    /// A header field. The forms `Name;`, `Name:` and `@FILE` have special meanings in curl and are refused.
    static let field = Self { value throws(Refusal) in
        guard value.contains(":"), !value.hasSuffix(":"), !value.hasPrefix("@") else {
            throw Refusal(why: "dlm accepts only header fields of the form 'Name: value'")
        }
        return value
    }

    /// A number of redirects. -1 means no limit.
    static let redirects = Self { $0 == "-1" ? "1000" : $0 }

    /// A body. The form `@FILE` is refused.
    static let plainData = Self { value throws(Refusal) in
        if !value.hasPrefix("@") { return value }
        throw Refusal(why: "dlm cannot send a body that begins with '@', or a file with its line breaks")
    }
}
