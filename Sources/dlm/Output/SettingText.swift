/// The text of `dlm config`: aligned lines without a header. Each line is complete, so `grep` can be used.
enum SettingText {
    /// - Parameter namesSections: Whether each line names its section, for settings from several sections.
    static func lines(_ settings: [SettingDocument], namesSections: Bool = true) -> [String] {
        let keys = settings.map { setting in
            let section = setting.host ?? setting.rule.map { "rule \($0)" }
            return section.flatMap { namesSections ? "\($0): \(setting.key)" : nil } ?? setting.key
        }
        let values = settings.map { Escaping.line($0.value) }
        let widths = [keys, values].map { $0.map(DisplayWidth.of).max() ?? 0 }
        return settings.indices.map { index in
            let origin = Escaping.line(settings[index].place ?? settings[index].origin)
            return DisplayWidth.padded(keys[index], to: widths[0]) + "  "
                + DisplayWidth.padded(values[index], to: widths[1]) + "  " + origin
        }
    }
}
