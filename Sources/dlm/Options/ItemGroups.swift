/// A type that has the groups of ``ItemOptions`` beside other options. The groups are not nested, because
/// ArgumentParser's debug builds check all groups anew at each level. Each level takes five times as long.
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
