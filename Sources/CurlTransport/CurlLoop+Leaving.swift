import CCurl
import CSystem
import DownloadCore
import Glibc

/// Connections from addresses that this machine has no more.
extension CurlLoop {
    /// The transfers end first: to libcurl, the end of a connection may be that of a body. Idle connections are shut down,
    /// for libcurl would send on one and wait for an answer; it finds them dead when it is to use them again.
    func leave(_ usable: Set<String>) {
        for transfer in Array(active.values) {
            guard let address = transfer.localAddress, !stays(address, usable) else { continue }
            let message = usable.isEmpty ? "this machine slept" : "this machine's address \(address) is gone"
            transfer.verdict = .failed(
                .networkFailed(.networkChanged, TransportDiagnosis(code: 0, message: message)))
            finish(transfer, result(transfer, CURLE_ABORTED_BY_CALLBACK))
        }
        sockets.shutDown { !stays($0, usable) }
    }

    private func stays(_ address: String, _ usable: Set<String>) -> Bool {
        let address = address.hasPrefix("::ffff:") ? String(address.dropFirst(7)) : address
        return usable.contains(address) || NetworkPath.isLoopback(address) || ["0.0.0.0", "::", ""].contains(address)
    }
}

extension CurlTransfer {
    /// Where its connection comes from; nil before there is one.
    fileprivate var localAddress: String? {
        if let known = easy?.string(CURLINFO_LOCAL_IP), !known.isEmpty { return known }
        return socket.flatMap(SocketWatch.localAddress)
    }
}

extension SocketWatch {
    /// Nil for what is no internet socket.
    static func localAddress(_ socket: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(DLM_ADDRESS_LENGTH)) { text in
            guard let start = text.baseAddress, dlm_local_address(socket, start) == 0 else { return nil }
            return String(cString: start)
        }
    }
}
