import DownloadTestSupport
import Testing

@testable import DownloadStoragePostgres

@Suite("Locations of queues, values and errors", .inTurn, .serialized)
struct QueueLocationTests {
    @Test(
        "A connection URI without a password is accepted",
        arguments: [
            "postgres://db.example.org/dlm", "postgresql://ann@db:5432/dlm?sslmode=verify-full", "postgres://",
            "postgres:///dlm?host=/run/postgresql&user=ann", "postgres://[::1]:5432/dlm",
            "postgres://a:5432,b:5433/dlm?passfile=/etc/pass",
        ])
    func place(_ text: String) throws {
        let location = try QueueLocation(text)
        #expect(location.uri == text)
        #expect(!location.name.contains("?"))
    }

    @Test(
        "A URI with a password is refused, in whatever form it is written",
        arguments: [
            "postgres://ann:secret@db/dlm", "postgres://ann:@db/dlm", "postgres://:secret@db/dlm",
            "postgres://ann:se/cret@db/dlm", "postgres://ann:se@cret@db/dlm", "postgres://db/dlm?password=secret",
            "postgres://db/dlm?sslmode=require&sslpassword=x", "postgres://db/dlm?pass%77ord=secret",
            "postgres://db/dlm?PASSWORD=x", "postgres://ann:se?cret@db/dlm", "postgres://ann:se?cret@db",
        ])
    func password(_ text: String) {
        #expect(throws: QueueLocation.Failure.holdsPassword) { try QueueLocation(text) }
    }

    @Test(
        "Text that is not a URI of PostgreSQL is refused",
        arguments: ["", "mysql://db/dlm", "dlm", "Postgres:/db", "host=db dbname=dlm"])
    func other(_ text: String) {
        #expect(throws: QueueLocation.Failure.otherScheme) { try QueueLocation(text) }
    }

    @Test("In arrays and in lines of COPY, special characters are quoted")
    func literals() {
        #expect(PostgresLiteral.array([1, -2]) == "{1,-2}")
        #expect(PostgresLiteral.array([Int]()) == "{}")
        #expect(PostgresLiteral.array(["a,b", nil, "\"\\", "", "NULL"]) == #"{"a,b",NULL,"\"\\","","NULL"}"#)
        var bytes: [UInt8] = []
        PostgresLiteral.appendLine(["a\tb", nil, "\\N\n\r", "é\0"], to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "a\\tb\t\\N\t\\\\N\\n\\r\té\n")
    }

    @Test("A call is tried again only after an error that passes by itself")
    func failures() {
        let transient = [nil, "08006", "57P01", "57P03", "53300", "40001", "40P01", "25006"]
        for state in transient { #expect(PostgresFailure(state: state, "x").isTransient, "\(state ?? "none")") }
        for state in ["57014", "42501", "42P01", "28P01", "23505", "DL001", "22P02"] {
            #expect(!PostgresFailure(state: state, "x").isTransient, "\(state)")
        }
        #expect(PostgresFailure(state: "DL001", "x").kind == .leaseLost)
        #expect(PostgresFailure(.other, "a\n\tb ").message == "a b")
    }
}
