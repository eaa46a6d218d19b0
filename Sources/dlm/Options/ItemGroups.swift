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

extension ItemGroups {
    var item: ItemOptions { ItemOptions(self) }
}
