/// `dlm config` for people: aligned, without a header, so that `grep` finds whole answers.
enum SettingText {
    static func lines(_ settings: [SettingDocument]) -> [String] {
        let keys = settings.map { DisplayWidth.of($0.key) }.max() ?? 0
        let values = settings.map { DisplayWidth.of(Escaping.line($0.value)) }.max() ?? 0
        return settings.map { setting in
            let origin = Escaping.line(setting.place ?? setting.origin)
            return DisplayWidth.padded(setting.key, to: keys) + "  "
                + DisplayWidth.padded(Escaping.line(setting.value), to: values) + "  " + origin
        }
    }
}
