import DownloadTestSupport
import Foundation
import Testing

@testable import DownloadCore

@Suite("DownloadSchedule: when a download may run", .inTurn, .timeLimit(.minutes(1)))
struct ScheduleTests {
    static let berlin = "Europe/Berlin"

    /// Returns a date from text in UTC.
    private func at(_ text: String) throws -> Date { try Date(text + "Z", strategy: .iso8601) }

    private func schedule(_ windows: [String], zone: String = berlin, start: Date? = nil) throws -> DownloadSchedule {
        DownloadSchedule(start: start, windows: try windows.map { try #require(TimeWindow($0)) }, timeZone: zone)
    }

    @Test(
        "A window is read and written in its normal form",
        arguments: [
            ("01:00-06:00", "01:00-06:00"), ("1:00-6:30", "01:00-06:30"),
            ("Mon-Fri 22:00-06:00", "Mon-Fri 22:00-06:00"),
            ("sat,SUN 00:00-24:00", "Sat-Sun 00:00-24:00"), ("Fri-Mon 10:00-12:00", "Mon,Fri-Sun 10:00-12:00"),
            ("Wed 23:59-00:01", "Wed 23:59-00:01"), ("Mon-Sun 01:00-02:00", "01:00-02:00"),
        ])
    func windows(text: String, told: String) throws {
        let window = try #require(TimeWindow(text))
        #expect(window.description == told)
        #expect(TimeWindow(window.description) == window)
    }

    @Test(
        "Text that is not a window is refused",
        arguments: [
            "", "01:00", "01:00-", "-06:00", "25:00-26:00", "24:00-06:00", "01:60-06:00", "01:00-06:00-07:00",
            "Foo 01:00-06:00", "Mon-Tue-Wed 01:00-02:00", "Mon, 01:00-02:00", "Mon 01:00-02:00 x", "1-2", "01:0-02:00",
        ])
    func noWindow(text: String) { #expect(TimeWindow(text) == nil) }

    @Test(
        "Impossible times are not decoded",
        arguments: [
            #"{"days":[7],"start":0,"end":1}"#, #"{"days":[0],"start":-1,"end":1}"#,
            #"{"days":[0],"start":1440,"end":1}"#, #"{"days":[0],"start":0,"end":1441}"#,
            #"{"days":[0],"start":9223372036854775807,"end":0}"#,
        ])
    func damaged(window: String) throws {
        let decoder = JSONDecoder()
        #expect(throws: (any Error).self) { try decoder.decode(TimeWindow.self, from: Data(window.utf8)) }
        let schedule = #"{"timeZone":"UTC","start":1e300,"windows":[]}"#
        #expect(throws: (any Error).self) { try decoder.decode(DownloadSchedule.self, from: Data(schedule.utf8)) }
        let good = DownloadSchedule(
            start: Date(timeIntervalSince1970: 5), windows: [try #require(TimeWindow("1:00-2:00"))])
        #expect(try decoder.decode(DownloadSchedule.self, from: JSONEncoder().encode(good)) == good)
    }

    @Test("A daily window is open within its hours and closed until the next day")
    func day() throws {
        let schedule = try schedule(["01:00-06:00"])
        // Berlin is an hour ahead of UTC in winter.
        #expect(schedule.answer(at: try at("2026-01-10T00:00:00")) == .open(until: try at("2026-01-10T05:00:00")))
        #expect(schedule.answer(at: try at("2026-01-10T04:59:59")) == .open(until: try at("2026-01-10T05:00:00")))
        #expect(schedule.answer(at: try at("2026-01-10T05:00:00")) == .closed(until: try at("2026-01-11T00:00:00")))
        #expect(schedule.answer(at: try at("2026-01-09T23:59:59")) == .closed(until: try at("2026-01-10T00:00:00")))
    }

    @Test("A window over midnight belongs to the day on which it begins")
    func night() throws {
        let schedule = try schedule(["Mon-Fri 22:00-06:00"], zone: "UTC")
        // 2026-01-09 is a Friday.
        #expect(schedule.answer(at: try at("2026-01-10T05:59:00")) == .open(until: try at("2026-01-10T06:00:00")))
        #expect(schedule.answer(at: try at("2026-01-10T23:00:00")) == .closed(until: try at("2026-01-12T22:00:00")))
        #expect(schedule.answer(at: try at("2026-01-12T05:00:00")) == .closed(until: try at("2026-01-12T22:00:00")))
    }

    @Test("Adjacent windows are one window, and windows that cover everything have no end")
    func neighbours() throws {
        let two = try schedule(["20:00-24:00", "00:00-06:00"], zone: "UTC")
        #expect(two.answer(at: try at("2026-01-10T21:00:00")) == .open(until: try at("2026-01-11T06:00:00")))
        let always = try schedule(["00:00-24:00"])
        #expect(always.answer(at: try at("2026-01-10T21:00:00")) == .open(until: nil))
        #expect(try schedule([]).answer(at: try at("2026-01-10T21:00:00")) == .open(until: nil))
    }

    @Test("When summer time begins, a window is an hour shorter; a skipped beginning moves to the moment of the change")
    func spring() throws {
        // 2026-03-29, 01:00 UTC: 02:00 becomes 03:00.
        let night = try schedule(["01:00-06:00"])
        #expect(night.answer(at: try at("2026-03-29T00:30:00")) == .open(until: try at("2026-03-29T04:00:00")))
        let skipped = try schedule(["02:30-05:00"])
        #expect(skipped.answer(at: try at("2026-03-29T00:30:00")) == .closed(until: try at("2026-03-29T01:00:00")))
        #expect(skipped.answer(at: try at("2026-03-29T01:00:00")) == .open(until: try at("2026-03-29T03:00:00")))
        // This window does not exist on that day.
        let gone = try schedule(["02:15-02:45"])
        #expect(gone.answer(at: try at("2026-03-29T00:30:00")) == .closed(until: try at("2026-03-30T00:15:00")))
    }

    @Test("When summer time ends, a window is an hour longer: the first beginning and the last end count")
    func autumn() throws {
        // 2026-10-25, 01:00 UTC: 03:00 becomes 02:00.
        let night = try schedule(["01:00-06:00"])
        #expect(night.answer(at: try at("2026-10-24T23:00:00")) == .open(until: try at("2026-10-25T05:00:00")))
        let twice = try schedule(["02:15-02:45"])
        #expect(twice.answer(at: try at("2026-10-25T00:00:00")) == .closed(until: try at("2026-10-25T00:15:00")))
        #expect(twice.answer(at: try at("2026-10-25T00:50:00")) == .open(until: try at("2026-10-25T01:45:00")))
        #expect(twice.answer(at: try at("2026-10-25T01:45:00")) == .closed(until: try at("2026-10-26T01:15:00")))
    }

    @Test(
        "At every moment of a year the schedule is open or closed until a later moment",
        arguments: [
            "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC",
        ])
    func year(zone: String) throws {
        let schedule = try schedule(["22:30-02:30", "Sat 12:00-13:00"], zone: zone)
        var now = try at("2026-01-01T00:00:00")
        let end = try at("2027-01-01T00:00:00")
        var opened = 0
        while now < end {
            switch schedule.answer(at: now) {
            case .open(let until):
                let until = try #require(until)
                #expect(until > now && until.timeIntervalSince(now) <= 5 * 3600)
                #expect(schedule.answer(at: until - 1) == .open(until: until))
                (now, opened) = (until, opened + 1)
            case .closed(let until):
                #expect(until > now && until.timeIntervalSince(now) <= 21 * 3600)
                guard case .closed = schedule.answer(at: until - 1) else {
                    Issue.record("open before \(until)")
                    return
                }
                now = until
            }
        }
        #expect((416...418).contains(opened))
    }

    @Test("A download does not run before its start, and then only in a window")
    func start() throws {
        let start = try at("2026-01-10T12:00:00")
        #expect(try schedule([], start: start).answer(at: start - 1) == .closed(until: start))
        #expect(try schedule([], start: start).answer(at: start) == .open(until: nil))
        let both = try schedule(["01:00-06:00"], zone: "UTC", start: start)
        #expect(both.answer(at: try at("2026-01-10T02:00:00")) == .closed(until: try at("2026-01-11T01:00:00")))
    }

    @Test(
        "A start time is read in the forms that people write",
        arguments: [
            ("+2h", "2026-03-28T14:00:00"), ("+1h30m", "2026-03-28T13:30:00"), ("+45s", "2026-03-28T12:00:45"),
            ("18:00", "2026-03-28T17:00:00"), ("12:30", "2026-03-29T10:30:00"), ("today 12:30", "2026-03-28T11:30:00"),
            ("tomorrow 06:00", "2026-03-29T04:00:00"), ("tomorrow 02:30", "2026-03-29T01:00:00"),
            ("2026-12-24", "2026-12-23T23:00:00"), ("2026-07-01 18:00", "2026-07-01T16:00:00"),
            ("2026-07-01T18:00:30", "2026-07-01T16:00:30"), ("2026-07-01T18:00Z", "2026-07-01T18:00:00"),
            ("2026-07-01T18:00:00+05:30", "2026-07-01T12:30:00"), ("2026-07-01 18:00-0800", "2026-07-02T02:00:00"),
            ("2028-02-29", "2028-02-28T23:00:00"),
        ])
    func startTime(text: String, moment: String) throws {
        let zone = try #require(TimeZone(identifier: Self.berlin))
        let now = try at("2026-03-28T12:00:00")
        #expect(StartTime.parse(text, now: now, zone: zone) == (try at(moment)))
    }

    @Test(
        "Text that is not a start time is refused",
        arguments: [
            "", "+", "+2", "2h", "+2x", "25:00", "24:00", "12:60", "noon", "tomorrow", "yesterday 10:00", "2026-02-29",
            "2026-13-01", "2026-1-1", "2026-01-01T", "2026-01-01T10", "2026-01-01T10:00+1", "2026-01-01X10:00",
            "12:30:61", "+99999999999d",
        ])
    func noStartTime(text: String) { #expect(StartTime.parse(text, now: Date()) == nil) }

    @Test("The first open window of a timetable sets the limit, and only changes are reported")
    func rates() throws {
        let table = RateTimetable(
            [
                .init(window: try #require(TimeWindow("Mon-Fri 08:00-18:00")), limit: 1000),
                .init(window: try #require(TimeWindow("08:00-22:00")), limit: nil),
            ], timeZone: "UTC")
        let (work, evening, night) = (
            try at("2026-01-09T09:00:00"), try at("2026-01-09T19:00:00"), try at("2026-01-09T23:00:00")
        )
        #expect(table.limit(at: work, usual: 50) == 1000)
        #expect(table.limit(at: evening, usual: 50) == nil)
        #expect(table.limit(at: night, usual: 50) == 50)
        var clock = RateClock(table, usual: 50)
        let changes = [work, work + 60, evening, night, night + 1].map { clock.change(at: $0) }
        #expect(changes == [.some(1000), nil, .some(nil), .some(50), nil])
        var none = RateClock(RateTimetable(), usual: 50)
        let change = none.change(at: work)
        #expect(change == nil)
    }
}
