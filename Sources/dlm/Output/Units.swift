import DownloadKit

/// Sizes (1024-based), rates and times as text for users. Sizes and rates are rounded down, so that the text never
/// shows more bytes than there are.
enum Units {
    private static let names = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

    /// Returns a number of things: `1 download`, `3 downloads`.
    static func count(_ number: Int, _ thing: String) -> String { "\(number) \(thing)\(number == 1 ? "" : "s")" }

    /// Returns a size: `512 B`, `18.2 MiB`, `654 MiB`, `1.2 GiB`, `16 KiB`.
    static func size(_ bytes: Int64) -> String {
        let unit = unit(of: Double(bytes))
        return "\(number(Double(bytes), unit, decimalBelow: 100, keepsZero: false)) \(names[unit])"
    }

    /// Returns the received bytes and the total in one unit: `412/654 MiB`. Returns only the received bytes if the total
    /// is unknown or everything was received: `7 MiB`.
    static func part(_ received: Int64, of total: Int64?) -> String {
        if let total, received >= total { return size(received) }
        let unit = unit(of: Double(total ?? received))
        let texts = [received, total].compactMap(\.self).map {
            number(Double($0), unit, decimalBelow: 100, keepsZero: true)
        }
        return "\(texts.joined(separator: "/")) \(names[unit])"
    }

    /// Returns a speed: `88 MiB/s`, `1.5 KiB/s`.
    static func rate(_ bytesPerSecond: Double) -> String {
        let bytes = bytesPerSecond.isFinite ? max(0, min(bytesPerSecond, largest)) : 0
        let unit = unit(of: bytes)
        return "\(number(bytes, unit, decimalBelow: 10, keepsZero: true)) \(names[unit])/s"
    }

    /// Returns the time that is left, in seconds rounded up: `0:03`, `1:02:03`. From 100 hours on, it is cut to whole
    /// hours: `5d 12h`. Returns `-` if the time is infinite or far too long.
    static func left(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e9 else { return "-" }
        return clock(Int(max(0, seconds).rounded(.up)))
    }

    /// Returns the time that something took: `0.6 s`, `12 s`, `1:02:03`.
    static func duration(_ seconds: Double) -> String {
        let tenths = Int(max(0, min(seconds, 1e9)) * 10)
        if tenths < 100 { return "\(tenths / 10).\(tenths % 10) s" }
        return tenths < 600 ? "\(tenths / 10) s" : clock(tenths / 10)
    }

    /// Returns the received part in whole percent; 100 only for everything, nil if the total is unknown.
    static func percent(_ received: Int64, of total: Int64?) -> Int? {
        guard let total else { return nil }
        if received >= total { return 100 }
        return Int(max(0, min(Double(received) / Double(total) * 100, 99)))
    }

    /// The greatest speed that is shown, in bytes per second. A greater value comes from a damaged record.
    private static let largest = 1e21

    private static func unit(of bytes: Double) -> Int {
        var unit = 0
        var rest = bytes
        while rest >= 1024, unit < names.count - 1 {
            rest /= 1024
            unit += 1
        }
        return unit
    }

    private static func number(_ bytes: Double, _ unit: Int, decimalBelow limit: Double, keepsZero: Bool) -> String {
        var value = max(0, bytes)
        for _ in 0..<unit { value /= 1024 }
        let tenths = Int(value * 10)
        if unit == 0 || value >= limit || !keepsZero && tenths % 10 == 0 { return String(Int(value)) }
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func clock(_ seconds: Int) -> String {
        if seconds >= 100 * 3600 { return "\(seconds / 86400)d \(seconds % 86400 / 3600)h" }
        let minutes = seconds >= 3600 ? "\(seconds / 3600):" + (seconds % 3600 / 60).padded(2) : "\(seconds / 60)"
        return minutes + ":" + (seconds % 60).padded(2)
    }
}

/// Sums and differences of sizes that come from servers and other processes. Those too large for an `Int64` become its
/// limit.
extension Int64 {
    func adding(_ other: Int64) -> Int64 { Int64(clamping: Int128(self) + Int128(other)) }
    func subtracting(_ other: Int64) -> Int64 { Int64(clamping: Int128(self) - Int128(other)) }
}
