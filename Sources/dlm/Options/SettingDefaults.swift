import DownloadKit

/// The default values of the settings, as they would be written in `config.yaml`.
enum SettingDefaults {
    /// Returns the default of a setting, or a dash if the setting has no value by default.
    static func value(_ key: String) -> String {
        if let value = known[key] ?? CommandDescription.settings[key]?.defaultValue { return value }
        return OptionCatalog.settings[key]?.isFlag ?? false ? "false" : "-"
    }

    /// The defaults of the options for which the parser has no default.
    private static var known: [String: String] {
        let session = SessionConfiguration(kind: .foreground, stateFolder: "")
        let (retry, timeouts) = (RetryPolicy(), DownloadRequest.Timeouts())
        return [
            "history-age": session.historyAge.inSeconds.map { Seconds($0).description } ?? "none",
            "max-concurrent": String(session.maxConcurrent), "max-per-host": String(session.maxPerHost),
            "limit-rate": ByteRate.text(session.rateLimit), "limit-window": "none", "connections": "auto",
            "directory": ".", "if-exists": Destination.IfExists.fail.rawValue, "priority": "0",
            "retries": String(retry.limit), "retry-delay": Seconds(retry.delay.inSeconds).description,
            "max-retry-after": Seconds(retry.maximumHostPause.inSeconds).description,
            "connect-timeout": Seconds(timeouts.connect.inSeconds).description,
            "stall-timeout": Seconds(timeouts.stall.inSeconds).description,
            "content-disposition": "true", "follow-metalink": "true", "hsts": "true", "expect-status": "200",
            "hook-timeout": Seconds(Hooks.standardTimeLimit).description,
            "max-redirects": String(RedirectPolicy().limit),
            "rpc-listen": "127.0.0.1:6800", "rpc-folders": "none", "rpc-hosts": "none", "rpc-origins": "none",
            "rpc-private-hosts": "true",
            "progress": ProgressChoice.auto.rawValue, "color": ColorChoice.auto.rawValue,
        ]
    }
}
