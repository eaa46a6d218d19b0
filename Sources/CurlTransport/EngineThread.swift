import CSystem
import DownloadCore
import Foundation

/// The start of a thread. Foundation's `Thread` does not report that a thread could not be made, and all transfers would
/// wait for it.
enum EngineThread {
    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
    }

    static func start(_ name: String, _ run: @escaping @Sendable () -> Void) throws(DownloadError) {
        var (thread, attributes) = (pthread_t(), pthread_attr_t())
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 1 << 20)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let body = Unmanaged.passRetained(Body(name, run))
        let code = pthread_create(
            &thread, &attributes,
            { context in
                guard let context else { return nil }
                let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
                dlm_name_thread(body.name)
                body.run()
                return nil
            }, body.toOpaque())
        if code == 0 { return }
        body.release()
        throw .unexpected("cannot start a thread: \(String(cString: strerror(code)))")
    }
}
