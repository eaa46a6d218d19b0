import ArgumentParser
import DownloadKit

/// The options of one download. They can be given on the command line of `get`, below a URL in a list, and as settings.
/// ``OptionScope`` names the options that are not possible in all of these places.
struct ItemOptions: OptionTable, RenewableOptions {
    var place = DestinationOptions()
    var transfer = TransferOptions()
    var attempts = AttemptOptions()
    var checksums = ChecksumOptions()
    var validation = ValidationOptions()
    var http = HTTPRequestOptions()
    var count = ConnectionOptions()
    var fields = HeaderOptions()
    var body = BodyOptions()
    var credentials = CredentialOptions()
    var cookies = CookieOptions()
    var trust = TrustOptions()
    var network = NetworkOptions()
    var mirrors = MirrorOptions()
    var hooks = HookOptions()

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

    static var catalog: OptionCatalog { .item }

    mutating func rows(_ row: inout OptionRows) {
        row.group(&place, "Where")
        row.group(&transfer, "How")
        row.group(&attempts, "How")
        row.group(&checksums, "Trust")
        row.group(&validation, "Trust")
        row.group(&http, "Request")
        row.group(&count, "How")
        row.group(&fields, "Request")
        row.group(&body, "Request")
        row.group(&credentials, "Credentials")
        row.group(&cookies, "Credentials")
        row.group(&trust, "Trust")
        row.group(&network, "Network")
        row.group(&mirrors, "Mirrors")
        row.group(&hooks, "Hooks")
    }
}
