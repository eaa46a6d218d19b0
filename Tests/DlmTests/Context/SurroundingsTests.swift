import Testing

@testable import dlm

@Suite("What the caller left to this process")
struct SurroundingsTests {
    @Test(
        "A home folder is taken from the password database only where the environment names none",
        arguments: [
            (nil, "/home/me", "/home/me"), ("", "/home/me", "/home/me"), ("/h", "/home/me", nil),
            ("h", "/home/me", nil),
            (nil, nil, nil), (nil, "", nil), (nil, "relative", nil),
        ] as [(String?, String?, String?)])
    func home(given: String?, entry: String?, home: String?) {
        #expect(Surroundings.home(inEnvironment: given, entry: entry) == home)
    }
}
