import ArgumentParser
import DownloadKit

/// A group of options of one download. An option is one row: its name and letter, how its value is read, its present
/// value, and its effect on the request, with what `dlm show` says of it.
protocol OptionTable: ScannedGroup {
    /// Passes each option to `row`, and assigns the result to the option.
    mutating func rows(_ row: inout OptionRows)
}

extension OptionTable {
    mutating func read(_ words: inout ScannedWords) {
        var row = OptionRows(.reading, words: words)
        // The words have one owner at a time, so that they are not copied.
        words = ScannedWords([])
        rows(&row)
        words = row.words
    }

    /// Applies the options that were given, and changes nothing else.
    /// - Parameter workingFolder: the absolute path from which relative folders start; nil if there is no usable one.
    func apply(to request: inout DownloadRequest, in workingFolder: String? = nil) throws {
        var (options, row) = (self, OptionRows(.applying, request: request, workingFolder: workingFolder))
        options.rows(&row)
        if let failure = row.failure { throw failure }
        if let changed = row.request { request = changed }
    }

    /// Returns the long names and the values of the options that `dlm show` prints under `options`. The value is empty
    /// for a flag. Values that are secret are not shown.
    static func given(in request: DownloadRequest) -> GivenOptions.List {
        var (options, row) = (Self(), OptionRows(.showing, request: request))
        options.rows(&row)
        return row.shown
    }
}

/// The visitor of the rows of an ``OptionTable``, which reads options, applies them to a request, or shows the options
/// of a request. The present values are evaluated only when they are applied, because before that they do not exist.
struct OptionRows {
    fileprivate enum Purpose { case reading, applying, showing }

    private let purpose: Purpose
    fileprivate var words: ScannedWords
    fileprivate var request: DownloadRequest?
    fileprivate var failure: (any Error)?
    fileprivate var shown: GivenOptions.List = []
    /// The folder from which relative paths start.
    let workingFolder: String?

    fileprivate init(
        _ purpose: Purpose, words: ScannedWords = ScannedWords([]), request: DownloadRequest? = nil,
        workingFolder: String? = nil
    ) {
        (self.purpose, self.words, self.request, self.workingFolder) = (purpose, words, request, workingFolder)
    }

    mutating func callAsFunction<Value: OptionValue>(
        _ name: String, letter: Character? = nil, _ kind: OptionKind<Value>, _ value: @autoclosure () -> Value,
        _ effect: @autoclosure () -> OptionEffect<Value.Given>? = nil
    ) -> Value {
        purpose == .reading ? words(name, letter: letter, kind) : use(name, value, effect)
    }

    mutating func pair<Flag: FlagPair>(
        _ name: String, _ value: @autoclosure () -> Flag?, _ effect: @autoclosure () -> OptionEffect<Flag>?
    ) -> Flag? {
        purpose == .reading ? words.pair(name) : use(name, value, effect)
    }

    private mutating func use<Value: OptionValue>(
        _ name: String, _ value: () -> Value, _ effect: () -> OptionEffect<Value.Given>?
    ) -> Value {
        if purpose == .showing {
            if let effect = effect() { show(name, effect.shows) }
            return Value(given: nil)
        }
        let value = value()
        if let given = value.given, let effect = effect() { change { try effect.sets(&$0, given) } }
        return value
    }

    /// Changes the request, after the effects of the rows above.
    mutating func change(_ change: (inout DownloadRequest) throws -> Void) {
        guard purpose == .applying, failure == nil, var changed = request else { return }
        request = nil
        do { try change(&changed) } catch { failure = error }
        request = changed
    }

    /// Shows an option by a name, or in a place, that differs from its row.
    mutating func show(_ name: String, _ text: (DownloadRequest) -> String?) {
        show(name, each: { text($0).map { [$0] } ?? [] })
    }

    mutating func show(_ name: String, each texts: (DownloadRequest) -> [String]) {
        guard purpose == .showing, let request else { return }
        shown += texts(request).map { (name, $0) }
    }
}

extension DownloadRequest {
    /// The schedule, which is made by the first option that sets a part of it.
    var ownSchedule: DownloadSchedule {
        get { schedule ?? DownloadSchedule() }
        set { schedule = newValue }
    }

    /// The hooks, which are made by the first option that sets a part of them.
    var ownHooks: Hooks {
        get { hooks ?? Hooks() }
        set { hooks = newValue }
    }
}

/// The type of the property of an option.
protocol OptionValue {
    associatedtype Given

    /// The value for effects; nil if the option was not given.
    var given: Given? { get }

    init(given: Given?)
}

extension Optional: OptionValue {
    var given: Wrapped? { self }
    init(given: Wrapped?) { self = given }
}

extension Array: OptionValue {
    var given: [Element]? { isEmpty ? nil : self }
    init(given: [Element]?) { self = given ?? [] }
}

extension Bool: OptionValue {
    var given: Bool? { self ? true : nil }
    init(given: Bool?) { self = given ?? false }
}

/// The effect of an option: the change of a request, and the text that `dlm show` prints for the request.
struct OptionEffect<Given> {
    let sets: (inout DownloadRequest, Given) throws -> Void
    var shows: (DownloadRequest) -> String? = { _ in nil }

    static func sets(
        _ sets: @escaping (inout DownloadRequest, Given) throws -> Void,
        shows: @escaping (DownloadRequest) -> String? = { _ in nil }
    ) -> Self {
        Self(sets: sets, shows: shows)
    }

    /// The effect of an option whose value is a field of the request.
    static func field(
        _ path: WritableKeyPath<DownloadRequest, Given?>, shows text: @escaping (Given) -> String = { "\($0)" }
    ) -> Self {
        Self(sets: { $0[keyPath: path] = $1 }, shows: { $0[keyPath: path].map(text) })
    }

    /// - Parameter usual: the value that is not shown.
    static func field(
        _ path: WritableKeyPath<DownloadRequest, Given>, unless usual: Given,
        shows text: @escaping (Given) -> String = { "\($0)" }
    ) -> Self where Given: Equatable {
        Self(sets: { $0[keyPath: path] = $1 }, shows: { $0[keyPath: path] == usual ? nil : text($0[keyPath: path]) })
    }
}

extension OptionEffect<Bool> {
    /// The effect of a flag that means one value of a field.
    static func choice<Choice: Equatable>(_ path: WritableKeyPath<DownloadRequest, Choice?>, _ choice: Choice) -> Self {
        Self(
            sets: { request, _ in request[keyPath: path] = choice },
            shows: { GivenOptions.flag($0[keyPath: path] == choice) })
    }
}

extension OptionEffect<Seconds> {
    static func seconds(_ path: WritableKeyPath<DownloadRequest, Double?>) -> Self {
        Self(sets: { $0[keyPath: path] = $1.value }, shows: { $0[keyPath: path].map(GivenOptions.seconds) })
    }

    static func seconds(_ path: WritableKeyPath<DownloadRequest, Double>, unless usual: Double) -> Self {
        Self(
            sets: { $0[keyPath: path] = $1.value },
            shows: { $0[keyPath: path] == usual ? nil : GivenOptions.seconds($0[keyPath: path]) })
    }
}

extension OptionEffect<String> {
    /// The effect of an option that names a file. The request has the file's absolute path.
    static func file(_ path: WritableKeyPath<DownloadRequest, String?>) -> Self {
        Self(sets: { $0[keyPath: path] = FolderPath.file($1) }, shows: { $0[keyPath: path] })
    }
}
