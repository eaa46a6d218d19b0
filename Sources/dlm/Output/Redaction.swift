/// Keeps passwords that were typed into URLs out of messages.
enum Redaction {
    /// `scheme://user:secret@host` becomes `scheme://***@host`, also where the URL is malformed.
    static func hidingUserInformation(_ text: String) -> String {
        text.replacing(/:\/\/[^\/?#\s]*@/, with: "://***@")
    }
}
