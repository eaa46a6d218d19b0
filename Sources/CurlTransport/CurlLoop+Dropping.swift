import CCurl
import CSystem
import DownloadCore
import Synchronization
import Glibc

/// The end of connections from addresses that this machine no longer has.
extension CurlLoop {
    /// Drops connections that do not use the given addresses of this machine. The transfers end first, because
    /// libcurl may take the end of a connection for the end of a body. Idle connections are shut down, because
    /// libcurl would otherwise send a request on such a connection and wait for the response. After the shutdown,
    /// libcurl sees that the connection has ended when it is about to reuse the connection.
    func dropConnections(except usable: Set<String>) {
        for transfer in Array(active.values) {
            guard let address = transfer.localAddress, !stays(address, usable) else { continue }
            let message = usable.isEmpty ? "this machine slept" : "this machine's address \(address) is gone"
            transfer.ownEnding = .failed(
                .networkFailed(.networkChanged, TransportDiagnosis(code: 0, message: message)))
            finish(transfer, result(transfer, CURLE_ABORTED_BY_CALLBACK))
        }
        sockets.shutDown { !stays($0, usable) }
        // Another network may let QUIC pass.
        shared.originsWithoutHTTP3.withLock { $0 = [] }
    }

    private func stays(_ address: String, _ usable: Set<String>) -> Bool {
        let address = address.hasPrefix("::ffff:") ? String(address.dropFirst(7)) : address
        return usable.contains(address) || NetworkPath.isLoopback(address) || ["0.0.0.0", "::", ""].contains(address)
    }
}

extension CurlTransfer {
    /// The local address of the transfer's connection; nil before there is a connection.
    fileprivate var localAddress: String? {
        if let known = easy?.string(CURLINFO_LOCAL_IP), !known.isEmpty { return known }
        return socket.flatMap(SocketWatch.localAddress)
    }
}

extension SocketWatch {
    /// Returns the local address of a socket, as text; nil if the socket is not an internet socket.
    static func localAddress(_ socket: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(DLM_ADDRESS_LENGTH)) { text in
            guard let start = text.baseAddress, dlm_local_address(socket, start) == 0 else { return nil }
            return String(cString: start)
        }
    }
}
