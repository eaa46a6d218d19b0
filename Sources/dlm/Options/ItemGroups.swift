/// Who has the groups of ``ItemOptions`` beside other options. They are not nested: ArgumentParser's debug builds check
/// all groups anew at each level, which takes five times as long for each.
protocol ItemGroups: RenewableOptions {
    var place: DestinationOptions { get set }
    var transfer: TransferOptions { get set }
    var attempts: AttemptOptions { get set }
    var checksums: ChecksumOptions { get set }
    var validation: ValidationOptions { get set }
    var http: HTTPRequestOptions { get set }
    var mirrors: MirrorOptions { get set }
    var hooks: HookOptions { get set }
}

extension ItemOptions: ItemGroups {
    init(_ groups: some ItemGroups) {
        self.init()
        take(groups)
    }
}

extension ItemGroups {
    var item: ItemOptions {
        get { ItemOptions(self) }
        set { take(newValue) }
    }

    fileprivate mutating func take(_ groups: some ItemGroups) {
        place = groups.place
        transfer = groups.transfer
        attempts = groups.attempts
        checksums = groups.checksums
        validation = groups.validation
        http = groups.http
        count = groups.count
        fields = groups.fields
        body = groups.body
        credentials = groups.credentials
        cookies = groups.cookies
        trust = groups.trust
        network = groups.network
        mirrors = groups.mirrors
        hooks = groups.hooks
    }
}
