/// `dlm config` for people: aligned, without a header, so that `grep` finds whole answers.
enum SettingText {
    static func lines(_ settings: [SettingDocument]) -> [String] {
        let keys = settings.map { DisplayWidth.of(key($0)) }.max() ?? 0
        let values = settings.map { DisplayWidth.of(Escaping.line($0.value)) }.max() ?? 0
        return settings.map { setting in
            let origin = Escaping.line(setting.place ?? setting.origin)
            return DisplayWidth.padded(key(setting), to: keys) + "  "
                + DisplayWidth.padded(Escaping.line(setting.value), to: values) + "  " + origin
        }
    }

    private static func key(_ setting: SettingDocument) -> String {
        setting.host.map { "\($0): \(setting.key)" } ?? setting.key
    }
}
