import Foundation

/// Sizes (1024-based), rates and times as people read them. Numbers are cut, not rounded up: what is shown is there.
enum Units {
    private static let names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// `512 B`, `18.2 MiB`, `654 MiB`, `1.2 GiB`.
    static func size(_ bytes: Int64) -> String {
        let exponent = exponent(of: Double(bytes))
        return "\(number(Double(bytes), exponent, decimalsBelow: 100)) \(names[exponent])"
    }

    /// `412/654 MiB`, both in the unit of the whole; only what is there while the whole is unknown.
    static func part(_ received: Int64, of total: Int64?) -> String {
        guard let total else { return size(received) }
        let exponent = exponent(of: Double(total))
        let part = number(Double(received), exponent, decimalsBelow: 100)
        return "\(part)/\(number(Double(total), exponent, decimalsBelow: 100)) \(names[exponent])"
    }

    /// `88 MiB/s`, `1.5 KiB/s`.
    static func rate(_ bytesPerSecond: Double) -> String {
        let bytes = max(0, bytesPerSecond)
        let exponent = exponent(of: bytes)
        return "\(number(bytes, exponent, decimalsBelow: 10)) \(names[exponent])/s"
    }

    /// `0:03`, `1:02:03`, `5d 12h`.
    static func time(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e9 else { return "-" }
        let whole = Int(max(0, seconds).rounded(.up))
        if whole >= 100 * 3600 { return "\(whole / 86400)d \(whole % 86400 / 3600)h" }
        let minutes = whole >= 3600 ? "\(whole / 3600):" + twoDigits(whole % 3600 / 60) : "\(whole / 60)"
        return minutes + ":" + twoDigits(whole % 60)
    }

    /// What something took: `0.4 s`, `12 s`, `1:02:03`.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 60 else { return time(seconds) }
        let tenths = Int((max(0, seconds) * 10).rounded(.up))
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10) s" : "\((tenths + 9) / 10) s"
    }

    /// Whole percent, 100 only for all of it; nil while the whole is unknown.
    static func percent(_ received: Int64, of total: Int64?) -> Int? {
        guard let total else { return nil }
        if received >= total { return 100 }
        return max(0, min(99, Int(Double(received) / Double(total) * 100)))
    }

    private static func exponent(of bytes: Double) -> Int {
        var exponent = 0
        var rest = bytes
        while rest >= 1024, exponent < names.count - 1 {
            rest /= 1024
            exponent += 1
        }
        return exponent
    }

    private static func number(_ bytes: Double, _ exponent: Int, decimalsBelow limit: Double) -> String {
        var value = bytes
        for _ in 0..<exponent { value /= 1024 }
        let tenths = Int(value * 10)
        if value >= limit || exponent == 0 || tenths % 10 == 0 { return String(Int(value)) }
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
