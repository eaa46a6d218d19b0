import ArgumentParser
import DownloadKit

/// The options of `get` that `doctor` has, too: header fields, credentials, cookies, trust and network.
struct ProbeOptions: ParsableArguments {
    @OptionGroup(title: "Request") private var fields: HeaderOptions
    @OptionGroup(title: "Credentials") private var credentials: CredentialOptions
    @OptionGroup(title: "Credentials") private var cookies: CookieOptions
    @OptionGroup(title: "Trust") private var trust: TrustOptions
    @OptionGroup(title: "Network") private var network: NetworkOptions

    mutating func prepare(in context: Context) throws { try credentials.askForPassword(in: context) }

    /// Applies the options that were given, and changes nothing else.
    func apply(to request: inout DownloadRequest) throws {
        try fields.apply(to: &request)
        try credentials.apply(to: &request)
        try cookies.apply(to: &request)
        try trust.apply(to: &request)
        try network.apply(to: &request)
    }
}
