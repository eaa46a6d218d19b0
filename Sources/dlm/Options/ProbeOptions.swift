import ArgumentParser
import DownloadKit

struct ProbeOptions: OptionTable {
    private var fields = HeaderOptions()
    private var credentials = CredentialOptions()
    private var cookies = CookieOptions()
    private var trust = TrustOptions()
    private var network = NetworkOptions()

    mutating func prepare(in context: Context) throws { try credentials.askForPassword(in: context) }

    mutating func rows(_ row: inout OptionRows) {
        row.group(&fields, "Request")
        row.group(&credentials, "Credentials")
        row.group(&cookies, "Credentials")
        row.group(&trust, "Trust")
        row.group(&network, "Network")
    }
}
