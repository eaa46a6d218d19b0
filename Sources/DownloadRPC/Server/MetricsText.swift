struct MetricsText {
    /// Whether to write OpenMetrics. Otherwise Prometheus's older text format is written, in which the family of a
    /// counter has the name of its samples.
    let isOpen: Bool
    private var text = ""

    init(isOpen: Bool) { self.isOpen = isOpen }

    mutating func gauge(_ name: String, _ help: String, _ number: Double) { gauge(name, help, by: nil, [("", number)]) }

    /// - Parameter label: The name of the label by which the samples differ.
    mutating func gauge(_ name: String, _ help: String, by label: String?, _ samples: [(String, Double)]) {
        family(name, "gauge", help)
        for (value, number) in samples { line(name, label, value, number) }
    }

    mutating func counter(_ name: String, _ help: String, by label: String?, _ samples: [(String, Double)]) {
        family(isOpen ? name : "\(name)_total", "counter", help)
        for (value, number) in samples { line("\(name)_total", label, value, number) }
    }

    private mutating func family(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ label: String?, _ value: String, _ number: Double) {
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        let labels = label.map { "{\($0)=\"\(escaped)\"}" } ?? ""
        text += "\(name)\(labels) \(Int64(exactly: number).map { "\($0)" } ?? "\(number)")\n"
    }

    func end() -> String { isOpen ? text + "# EOF\n" : text }
}
