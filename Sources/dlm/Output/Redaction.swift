import DownloadKit

/// Keeps passwords that were typed into URLs out of messages.
enum Redaction {
    /// The message of an error; of a URL that could not be read, what looks like `user:password@` is hidden too.
    static func describe(_ error: DownloadError) -> String {
        let text = hidingUserInformation(error.description)
        guard case .requestInvalid = error else { return text }
        return text.replacing(/[^\/?#\s:]*:[^\/?#\s]*@/, with: "***@")
    }

    /// `scheme://user:secret@host` becomes `scheme://***@host`, also where the URL is malformed.
    static func hidingUserInformation(_ text: String) -> String {
        text.replacing(/:\/\/[^\/?#\s]*@/, with: "://***@")
    }
}
