import CSystem
import DownloadCore
import Foundation
import Synchronization

/// The network as rtnetlink(7) reports it. A session has one descriptor and no thread: events are read when a caller
/// asks.
package final class KernelNetwork: LocalNetwork {
    /// The rtnetlink descriptor. Nil before the first call, -1 if there can be none.
    private let descriptor = Mutex<Int32?>(nil)

    package init() {}

    deinit {
        if let descriptor = descriptor.withLock({ $0 }), descriptor >= 0 { close(descriptor) }
    }

    package func hasChanged() -> Bool {
        descriptor.withLock { descriptor in
            guard let opened = descriptor else {
                descriptor = dlm_network_watch()
                return true
            }
            return opened >= 0 && dlm_network_changed(opened) != 0
        }
    }

    package func usableAddresses() -> Set<String>? {
        final class Found { var addresses: Set<String> = [] }
        let found = Found()
        let failed = dlm_usable_addresses(
            { context, address in
                guard let context, let address else { return }
                Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().addresses.insert(String(cString: address))
            }, Unmanaged.passUnretained(found).toOpaque())
        return failed == 0 ? found.addresses : nil
    }

    package func reaches(_ address: String, from source: NetworkPath.Source?) -> Bool? {
        let answer =
            switch source {
            case .interface(let name): dlm_has_route(address, name, nil)
            case .address(let own): dlm_has_route(address, nil, own)
            case nil: dlm_has_route(address, nil, nil)
            }
        return answer < 0 ? nil : answer == 1
    }

    package func has(_ source: NetworkPath.Source) -> Bool {
        switch source {
        case .interface(let name): dlm_has_interface(name) != 0
        case .address(let own): usableAddresses()?.contains(own) ?? true
        }
    }

    package func nameServers() -> [String] {
        let text = (try? String(contentsOfFile: "/etc/resolv.conf", encoding: .utf8)) ?? ""
        return text.split(whereSeparator: \.isNewline).compactMap { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.count > 1 && words[0] == "nameserver" ? String(words[1]) : nil
        }
    }

    package func timeAsleep() -> Duration {
        func time(_ clock: clockid_t) -> Duration {
            var now = timespec()
            clock_gettime(clock, &now)
            return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
        }
        // CLOCK_BOOTTIME includes the time that the machine is suspended (clock_gettime(2)).
        return time(CLOCK_BOOTTIME) - time(CLOCK_MONOTONIC)
    }
}
