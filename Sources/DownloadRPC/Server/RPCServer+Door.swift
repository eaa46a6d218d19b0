import DownloadCore
import DownloadSystem
import Foundation
import Glibc

extension RPCServer {
    /// Returns the address that a running server has written into the state folder, or nil if there is none.
    package static func runningAddress(in stateFolder: String) -> String? {
        guard let data = FileManager.default.contents(atPath: addressFile(in: stateFolder)), data.count < 200 else {
            return nil
        }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return text.hasPrefix("http://") && !text.contains(where: { "\"<>&".contains($0) }) ? text : nil
    }

    /// Creates a file that leads a browser to the page. In the address, the secret follows after `#`, and browsers do
    /// not send this part. The page removes the secret from the address at once.
    /// - Returns: The path of the file. Only its owner may read it.
    package static func makeDoor(
        in stateFolder: String, to address: String, _ secret: RPCSecret
    ) throws(DownloadError) -> String {
        let path = FileNaming.path(stateFolder, "rpc-open.html")
        let escaped = secret.text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let page = """
            <!DOCTYPE html><meta charset="utf-8"><title>dlm</title>
            <meta http-equiv="refresh" content="0; url=\(address)/#secret=\(escaped)">

            """
        guard FileBytes.make(path, with: page) else {
            throw .fileFailed(.system(operation: "write", errno: errno), path: path)
        }
        return path
    }
}
