import CCurl
import Foundation

/// What can be told of a private key without using it.
enum SSHKey {
    /// Why a login with it may have been refused that is right in every other way; nil where nothing is known.
    static func hint(_ path: String?) -> String? {
        guard let path, let library = dlm_curl_features().ssh.map({ String(cString: $0) }), signsWithSHA1(library),
            let text = try? String(contentsOfFile: path, encoding: .utf8), isRSA(text)
        else { return nil }
        return
            "\(library.replacing("/", with: " ")) signs for the RSA key \(path) with SHA-1, which OpenSSH refuses since "
            + "8.8: log in with an ed25519 key (ssh-keygen -t ed25519)"
    }

    /// libssh2 knows the other signatures of RSA (RFC 8332) from 1.11 on.
    static func signsWithSHA1(_ library: String) -> Bool {
        let parts = library.split(separator: "/")
        guard parts.first == "libssh2", parts.count == 2 else { return false }
        let numbers = parts[1].split(separator: ".").prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) < (1, 11)
    }

    /// In PEM, or as OpenSSH writes it: its public half says so.
    static func isRSA(_ text: String) -> Bool {
        if text.contains("BEGIN RSA PRIVATE KEY") { return true }
        let lines = text.split(whereSeparator: \.isNewline).drop { !$0.contains("BEGIN OPENSSH PRIVATE KEY") }
        // Behind the names of its cipher.
        let begin = lines.dropFirst().prefix(4).joined()
        guard let bytes = Data(base64Encoded: String(begin.prefix(begin.count / 4 * 4))) else { return false }
        return bytes.range(of: Data("ssh-rsa".utf8)) != nil
    }
}
