import DownloadKit

extension Get {
    /// With what the command line leaves open.
    func completed(by settings: Settings) -> Get {
        var command = self
        command.renewable.connections = renewable.connections ?? settings.connections
        command.transfer.retries = transfer.retries ?? settings.retries
        command.transfer.retryDelay = transfer.retryDelay ?? settings.retryDelay
        command.transfer.connectTimeout = transfer.connectTimeout ?? settings.connectTimeout
        command.transfer.stallTimeout = transfer.stallTimeout ?? settings.stallTimeout
        command.transfer.maxRedirects = transfer.maxRedirects ?? settings.maxRedirects
        return command
    }
}

extension TransferOptions {
    /// The options of the session; the settings are in force already.
    func apply(to configuration: inout SessionConfiguration, _ settings: Settings) {
        if let maxConcurrent {
            configuration.maxConcurrent = maxConcurrent
            // Unless asked otherwise, all of them may be from one host.
            configuration.maxPerHost = settings.maxPerHost ?? maxConcurrent
        }
        if let maxPerHost { configuration.maxPerHost = maxPerHost }
        // A limit for each download takes the place of the one for all together.
        if limitRate != nil { configuration.rateLimit = nil }
    }
}
