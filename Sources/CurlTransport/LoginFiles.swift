import Foundation

/// The files that OpenSSH keeps in the user's home folder, and the user's name.
struct LoginFiles: Sendable {
    let knownHosts: String?
    /// The first of `id_ed25519`, `id_ecdsa` and `id_rsa` in `~/.ssh` that can be read.
    let key: String?
    let user: String?

    init(environment: [String: String]) {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        knownHosts = home.map { $0 + "/.ssh/known_hosts" }
        key = ["id_ed25519", "id_ecdsa", "id_rsa"].lazy
            .compactMap { name in home.map { "\($0)/.ssh/\(name)" } }.first { access($0, R_OK) == 0 }
        user = getpwuid(geteuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
    }
}
