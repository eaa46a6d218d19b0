/// A type that has the groups of ``ItemOptions``, and perhaps other options. The groups are not nested in another
/// group: debug builds of ArgumentParser check all groups again at each level, so each level takes five times as long.
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
