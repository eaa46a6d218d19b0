import DownloadKit

/// The options that were given for one download, in the form of the option lines of a list:
/// `proxy=http://10.0.0.1:3128`.
enum GivenOptions {
    typealias List = [(name: String, value: String)]

    /// The groups of ``ItemOptions`` whose options are shown, in the order of `dlm show`.
    private static var groups: [any OptionTable.Type] {
        [
            HTTPRequestOptions.self, BodyOptions.self, CredentialOptions.self, CookieOptions.self, TrustOptions.self,
            NetworkOptions.self, TransferOptions.self, AttemptOptions.self, DestinationOptions.self, MirrorOptions.self,
            ChecksumOptions.self, ValidationOptions.self, HookOptions.self,
        ]
    }

    static func lines(_ request: DownloadRequest) -> [String] {
        groups.flatMap { $0.given(in: request) }.map { $0.value.isEmpty ? $0.name : "\($0.name)=\($0.value)" }
    }

    /// Returns the empty value of a flag, or nil if the flag is not set.
    static func flag(_ isSet: Bool?) -> String? { isSet == true ? "" : nil }

    static func seconds(_ value: Duration) -> String { seconds(value.inSeconds) }

    static func seconds(_ value: Double) -> String {
        Int(exactly: value).map { "\($0)s" } ?? "\(value)s"
    }
}
