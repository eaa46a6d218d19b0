import ArgumentParser
import DownloadKit

/// The options of one download. They can be given on the command line of `get`, below a URL in a list, and as settings.
/// ``OptionScope`` names the options that are not possible in all of these places.
struct ItemOptions: RenewableOptions {
    var place: DestinationOptions
    var transfer: TransferOptions
    var attempts: AttemptOptions
    var checksums: ChecksumOptions
    var validation: ValidationOptions
    var http: HTTPRequestOptions
    var count: ConnectionOptions
    var fields: HeaderOptions
    var body: BodyOptions
    var credentials: CredentialOptions
    var cookies: CookieOptions
    var trust: TrustOptions
    var network: NetworkOptions
    var mirrors: MirrorOptions
    var hooks: HookOptions

    /// Applies the options that were given, and changes nothing else.
    /// - Parameter workingFolder: the absolute path from which relative folders start.
    func apply(to request: inout DownloadRequest, in workingFolder: String?) throws {
        try place.apply(to: &request, in: workingFolder)
        try transfer.apply(to: &request)
        try attempts.apply(to: &request)
        try validation.apply(to: &request)
        try checksums.apply(to: &request)
        try http.apply(to: &request)
        try renew(&request)
        try mirrors.apply(to: &request)
        try hooks.apply(to: &request, in: workingFolder)
    }
}

extension ItemOptions: ScannedOptions {
    init(_ arguments: ItemArguments) {
        self.init(
            place: arguments.place, transfer: arguments.transfer, attempts: arguments.attempts,
            checksums: arguments.checksums, validation: arguments.validation, http: arguments.http,
            count: arguments.count, fields: arguments.fields, body: arguments.body,
            credentials: arguments.credentials, cookies: arguments.cookies, trust: arguments.trust,
            network: arguments.network, mirrors: arguments.mirrors, hooks: arguments.hooks)
    }

    init(_ words: inout ScannedWords) {
        self.init(
            place: words.group(), transfer: words.group(), attempts: words.group(), checksums: words.group(),
            validation: words.group(), http: words.group(), count: words.group(), fields: words.group(),
            body: words.group(), credentials: words.group(), cookies: words.group(), trust: words.group(),
            network: words.group(), mirrors: words.group(), hooks: words.group())
    }
}

/// ``ItemOptions`` for the argument parser.
struct ItemArguments: ParsableArguments {
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
}
