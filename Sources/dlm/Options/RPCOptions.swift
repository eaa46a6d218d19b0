import ArgumentParser
import DownloadKit
import DownloadRPC
import Foundation

/// The options for the HTTP server of the background session, which serves aria2's RPC and the web page.
struct RPCOptions: OptionTable {
    var rpc: RPCFlag?
    var rpcListen: RPCAddress?
    var rpcFolders: [String] = []
    var rpcHosts: [String] = []
    var rpcOrigins: [String] = []
    var rpcPrivateHosts: RPCPrivateHostsFlag?

    func validate() throws {
        for folder in rpcFolders where folder.isEmpty || folder.utf8.contains(0) {
            throw ValidationError("--rpc-folders: no folder given")
        }
        for origin in rpcOrigins where origin != "null" && origin != "none" && !Self.isOrigin(origin) {
            throw ValidationError("--rpc-origins \(origin): give an origin such as https://example.org, without a path")
        }
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard let url = URL(string: text), let scheme = url.scheme, url.host() != nil else { return false }
        return url.path().isEmpty && url.query() == nil && text == text.trimmingCharacters(in: .whitespaces)
            && !scheme.isEmpty
    }

    func overriding(_ other: RPCOptions?) -> RPCOptions {
        guard let other else { return self }
        var result = self
        result.rpc = rpc ?? other.rpc
        result.rpcListen = rpcListen ?? other.rpcListen
        if rpcFolders.isEmpty { result.rpcFolders = other.rpcFolders }
        if rpcHosts.isEmpty { result.rpcHosts = other.rpcHosts }
        if rpcOrigins.isEmpty { result.rpcOrigins = other.rpcOrigins }
        result.rpcPrivateHosts = rpcPrivateHosts ?? other.rpcPrivateHosts
        return result
    }

    /// Returns the configuration of the server, or nil if the server is switched off.
    /// - Parameter directory: the folder for downloads in `config.yaml`.
    func configuration(
        _ environment: [String: String], stateFolder: String, directory: String?, workingFolder: String?
    ) throws -> RPCConfiguration? {
        guard rpc == .rpc else { return nil }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let named = rpcFolders.filter { $0 != "none" }
        let standard = environment["XDG_DOWNLOAD_DIR"] ?? directory ?? home.map { FileNaming.path($0, "Downloads") }
        let folders = try (named.isEmpty ? standard.map { [$0] } ?? [] : named).map { folder in
            if folder.hasPrefix("/") { return folder }
            guard let workingFolder else { throw ValidationError("--rpc-folders \(folder): give an absolute path") }
            return FileNaming.path(workingFolder, folder)
        }
        guard !folders.isEmpty else { throw ValidationError("--rpc: give a folder for downloads with --rpc-folders") }
        var configuration = RPCConfiguration(folders: folders, stateFolder: stateFolder)
        if let rpcListen { (configuration.host, configuration.port) = (rpcListen.host, rpcListen.port) }
        configuration.hosts = rpcHosts.filter { $0 != "none" }
        configuration.origins = rpcOrigins.filter { $0 != "none" }
        configuration.permitsPrivateHosts = rpcPrivateHosts != .noRpcPrivateHosts
        if let file = SettingsFile(environment: environment) {
            configuration.protectedFolders = [(file.path as NSString).deletingLastPathComponent]
        }
        return configuration
    }

    /// Whether there are options other than `--rpc`, which a running server does not receive.
    var changesServer: Bool {
        rpc == .noRpc || rpcListen != nil || rpcPrivateHosts != nil
            || !(rpcFolders + rpcHosts + rpcOrigins).isEmpty
    }

    mutating func rows(_ row: inout OptionRows) {
        row.pair(&rpc, "rpc", in: .session)
        row(
            &rpcListen, "rpc-listen", in: .session, usual: "127.0.0.1:6800", .value("address"),
            "Serve at this numeric address and port. Default: 127.0.0.1:6800. There is no encryption: for access "
                + "from elsewhere, use ssh -L or a reverse proxy.")
        row(
            &rpcFolders, "rpc-folders", in: .session, usual: "none",
            .texts("dir", isPath: true, completion: .directory),
            "Let network clients save files in this folder and its subfolders; repeatable. If a client names no "
                + "folder, the first one is used. Default: $XDG_DOWNLOAD_DIR, else the setting directory, else "
                + "~/Downloads.")
        row(
            &rpcHosts, "rpc-hosts", in: .session, usual: "none", .texts("name"),
            "Also answer requests with this host name, for example behind a reverse proxy; repeatable. localhost is "
                + "always answered.")
        row(
            &rpcOrigins, "rpc-origins", in: .session, usual: "none", .texts("origin"),
            "Also answer web pages of this origin, such as https://example.org; repeatable. null means pages opened "
                + "from files. The server's own page and browser extensions are always answered.")
        row.pair(&rpcPrivateHosts, "rpc-private-hosts", in: .session, usual: "true")
    }
}

enum RPCFlag: FlagPair {
    case rpc, noRpc

    static let texts = (
        on: """
        Serve aria2's RPC, a web page and dlm's own API over HTTP. All of these require a secret (see: dlm rpc \
        secret). Default: off.
        """,
        off: "Serve nothing over HTTP."
    )
}

enum RPCPrivateHostsFlag: FlagPair {
    case rpcPrivateHosts, noRpcPrivateHosts

    static let texts = (
        on: "Let network clients download from any host. Default: on.",
        off: """
        Refuse downloads from this machine, or from private or link-local networks, if network clients request \
        them, also after redirects. Proxies that network clients name are refused, too.
        """
    )
}

struct RPCAddress: ParsedArgument, Equatable {
    let host: String
    let port: Int

    init(argument: String) throws {
        guard let address = RPCConfiguration.listen(argument) else {
            throw ValidationError(
                "give a numeric address such as 127.0.0.1:6800, [::1]:6800 or 0.0.0.0:6800, or a port")
        }
        (host, port) = address
    }
}
