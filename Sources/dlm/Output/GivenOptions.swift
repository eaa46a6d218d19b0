import DownloadKit

/// A group of options of one download whose values can be read from the stored request.
protocol TellingOptions {
    /// Returns the long names and the values of the options that `dlm show` prints under `options`. The value is nil
    /// for an option that was not given, and empty for a flag. Values that are secret are not shown.
    static func given(in request: DownloadRequest) -> GivenOptions.List
}

/// The options that were given for one download, in the form of the option lines of a list:
/// `proxy=http://10.0.0.1:3128`.
enum GivenOptions {
    typealias List = [(name: String, value: String?)]

    /// The groups of ``ItemOptions`` whose options are shown, in the order of `dlm show`.
    private static var groups: [any TellingOptions.Type] {
        [
            HTTPRequestOptions.self, BodyOptions.self, CredentialOptions.self, CookieOptions.self, TrustOptions.self,
            NetworkOptions.self, TransferOptions.self, AttemptOptions.self, DestinationOptions.self, MirrorOptions.self,
            ChecksumOptions.self, ValidationOptions.self, HookOptions.self,
        ]
    }

    static func lines(_ request: DownloadRequest) -> [String] {
        groups.flatMap { $0.given(in: request) }.compactMap { name, value in
            value.map { $0.isEmpty ? name : "\(name)=\($0)" }
        }
    }

    /// Returns the empty value of a flag, or nil if the flag is not set.
    static func flag(_ isSet: Bool?) -> String? { isSet == true ? "" : nil }

    static func text<T: Equatable>(_ value: T, unless usual: T, _ text: (T) -> String) -> String? {
        value == usual ? nil : text(value)
    }

    static func seconds(_ value: Duration) -> String { seconds(value.inSeconds) }

    static func seconds(_ value: Double) -> String {
        Int(exactly: value).map { "\($0)s" } ?? "\(value)s"
    }
}
