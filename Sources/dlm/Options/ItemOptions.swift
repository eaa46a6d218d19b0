import ArgumentParser
import DownloadKit

/// The options of one download. They can be given on the command line of `get`, below a URL in a list, and as settings.
/// ``OptionScope`` names the options that are not possible in all of these places.
struct ItemOptions: OptionTable {
    var place = DestinationOptions()
    var transfer = TransferOptions()
    var attempts = AttemptOptions()
    var checksums = ChecksumOptions()
    var validation = ValidationOptions()
    var http = HTTPRequestOptions()
    var renewable = RenewableOptions()
    var mirrors = MirrorOptions()
    var hooks = HookOptions()

    static var catalog: OptionCatalog { .item }

    mutating func rows(_ row: inout OptionRows) {
        row.group(&place, "Where")
        row.group(&transfer, "How")
        row.group(&attempts, "How")
        row.group(&checksums, "Trust")
        row.group(&validation, "Trust")
        row.group(&http, "Request")
        row.group(&renewable)
        row.group(&mirrors, "Mirrors")
        row.group(&hooks, "Hooks")
    }
}
