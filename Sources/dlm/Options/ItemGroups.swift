/// A type that has the groups of ``ItemOptions`` beside other options. The groups are not nested, because debug builds
/// of ArgumentParser check all groups again at each level, so that each level takes five times as long.
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
