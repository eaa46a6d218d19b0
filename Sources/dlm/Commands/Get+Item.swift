extension Get {
    /// The options of a download among those of the command, which has their groups itself (``RenewableOptions``).
    var item: ItemOptions {
        var item = ItemOptions()
        item.place = place
        item.transfer = transfer
        item.attempts = attempts
        item.checksums = checksums
        item.validation = validation
        item.http = http
        item.count = count
        item.fields = fields
        item.body = body
        item.credentials = credentials
        item.cookies = cookies
        item.trust = trust
        item.network = network
        item.hooks = hooks
        return item
    }
}
