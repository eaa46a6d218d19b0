import Testing

@testable import dlm

@Suite("The environment and the home folder")
struct SurroundingsTests {
    @Test(
        "The home folder comes from the password database only if the environment names none",
        arguments: [
            (nil, "/home/me", "/home/me"), ("", "/home/me", "/home/me"), ("/h", "/home/me", nil),
            ("h", "/home/me", nil),
            (nil, nil, nil), (nil, "", nil), (nil, "relative", nil),
        ] as [(String?, String?, String?)])
    func home(given: String?, entry: String?, home: String?) {
        #expect(Surroundings.home(inEnvironment: given, entry: { entry }) == home)
    }
}
