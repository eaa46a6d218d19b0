import CCurl
import DownloadCore
import DownloadSystem
import Foundation

/// The facts about a private key that can be known without using the key.
enum SSHKey {
    /// Returns why a server may have refused a login with a valid key; nil if no reason is known.
    static func hint(_ path: String?) -> String? {
        guard let path, let library = dlm_curl_features().ssh.map({ String(cString: $0) }), signsWithSHA1(library),
            let text = try? String(contentsOfFile: path, encoding: .utf8), isRSA(text)
        else { return nil }
        return
            "\(library.replacing("/", with: " ")) signs for the RSA key \(path) with SHA-1, which OpenSSH refuses since "
            + "8.8: log in with an ed25519 key (ssh-keygen -t ed25519)"
    }

    /// Returns whether the SSH library signs with SHA-1 for RSA keys. libssh2 has the other RSA signatures (RFC 8332)
    /// since version 1.11.
    static func signsWithSHA1(_ library: String) -> Bool {
        let parts = library.split(separator: "/")
        guard parts.first == "libssh2", parts.count == 2 else { return false }
        let numbers = parts[1].split(separator: ".").prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) < (1, 11)
    }

    /// Returns whether the private key is an RSA key, in PEM or in OpenSSH's format. In OpenSSH's format the public
    /// half names the type.
    static func isRSA(_ text: String) -> Bool {
        if text.contains("BEGIN RSA PRIVATE KEY") { return true }
        let lines = text.split(whereSeparator: \.isNewline).drop { !$0.contains("BEGIN OPENSSH PRIVATE KEY") }
        // The public half follows the names of the cipher.
        let begin = lines.dropFirst().prefix(4).joined()
        guard let bytes = Data(base64Encoded: String(begin.prefix(begin.count / 4 * 4))) else { return false }
        return bytes.range(of: Data("ssh-rsa".utf8)) != nil
    }
}

/// The fingerprint of a public key, in the format of OpenSSH.
enum Fingerprint {
    static func sha256(_ key: UnsafeRawBufferPointer) -> String? {
        guard let digest = try? TextDigest(Array(key)) else { return nil }
        return "SHA256:" + Data(digest.bytes).base64EncodedString().replacing("=", with: "")
    }
}
