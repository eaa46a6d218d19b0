import ArgumentParser
import DownloadKit

/// What can be said of one download: on the command line of `get`, below a URL in a list, and as a setting. A group of
/// options that is added here can be used in all of these places; ``OptionScope`` names the exceptions.
struct ItemOptions: ParsableArguments {
    @OptionGroup(title: "Where") var place: DestinationOptions
    @OptionGroup(title: "How") var transfer: TransferOptions
    @OptionGroup(title: "How") var attempts: AttemptOptions
    @OptionGroup(title: "Trust") var checksums: ChecksumOptions
    @OptionGroup(title: "Trust") var validation: ValidationOptions
    @OptionGroup(title: "Request") var http: HTTPRequestOptions
    @OptionGroup(title: "How") var count: ConnectionOptions
    @OptionGroup(title: "Request") var fields: HeaderOptions
    @OptionGroup(title: "Request") var body: BodyOptions
    @OptionGroup(title: "Credentials") var credentials: CredentialOptions
    @OptionGroup(title: "Credentials") var cookies: CookieOptions
    @OptionGroup(title: "Trust") var trust: TrustOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Mirrors") var mirrors: MirrorOptions
    @OptionGroup(title: "Hooks") var hooks: HookOptions

    /// Changes only what was given.
    /// - Parameter workingFolder: absolute; relative folders start there.
    func apply(to request: inout DownloadRequest, in workingFolder: String?) throws {
        try place.apply(to: &request.destination, in: workingFolder)
        transfer.apply(to: &request)
        attempts.apply(to: &request)
        validation.apply(to: &request)
        checksums.apply(to: &request)
        http.apply(to: &request)
        try renew(&request)
        try mirrors.apply(to: &request)
        try hooks.apply(to: &request, in: workingFolder)
    }
}
