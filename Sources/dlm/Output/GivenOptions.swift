import DownloadKit

/// Options of one download that can tell whether they were given.
protocol TellingOptions {
    /// Returns the long names of what was given and has no line of its own in `dlm show`, with the values as a list has
    /// them. A value of nil was not given; one that is empty belongs to a flag. Secrets are named and not told.
    static func given(in request: DownloadRequest) -> GivenOptions.List
}

/// What was asked for of one download, as a list has it: `proxy=http://10.0.0.1:3128`.
enum GivenOptions {
    typealias List = [(name: String, value: String?)]

    /// The groups of ``ItemOptions`` that have something to tell, in the order of `dlm show`.
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

    /// A flag has no value.
    static func flag(_ isSet: Bool?) -> String? { isSet == true ? "" : nil }

    static func text<T: Equatable>(_ value: T, unless usual: T, _ text: (T) -> String) -> String? {
        value == usual ? nil : text(value)
    }

    static func seconds(_ value: Double) -> String {
        Int(exactly: value).map { "\($0)s" } ?? "\(value)s"
    }
}
