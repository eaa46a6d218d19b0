import DownloadKit

extension Get {
    /// With what the command line leaves open.
    func completed(by settings: Settings) -> Get {
        var command = self
        let (renewable, transfer) = (item.renewable, item.transfer)
        command.item.renewable.connections = renewable.connections ?? settings.connections
        command.item.transfer.retries = transfer.retries ?? settings.retries
        command.item.transfer.retryDelay = transfer.retryDelay ?? settings.retryDelay
        command.item.transfer.connectTimeout = transfer.connectTimeout ?? settings.connectTimeout
        command.item.transfer.stallTimeout = transfer.stallTimeout ?? settings.stallTimeout
        command.item.transfer.maxRedirects = transfer.maxRedirects ?? settings.maxRedirects
        return command
    }
}
