import DownloadKit
import Foundation
import Glibc

/// The checks of `dlm doctor`, which return the findings.
struct Examination {
    let context: Context
    /// A request with the settings and options applied.
    let request: DownloadRequest
    /// Whether ``request`` is sent to its server, because the user gave a URL.
    let asks: Bool

    private var proxies: ProxyEnvironment { ProxyEnvironment(context.environment, request.network) }

    func findings() async -> [Finding] {
        let findings = transfers() + [settings()] + (await places())
        return asks ? findings + (await asked()) : findings
    }

    private func transfers() -> [Finding] {
        do throws(DownloadError) {
            var features = try DownloadSession.transportFeatures(environment: context.environment)
            if let file = request.trust.authorities {
                features.authorities = .init(file: file, origin: "--ca-certificate")
            }
            return TransferFindings.findings(features, AuthorityCheck.checks(features.authorities))
                + TransferFindings.verification(request.trust) + proxies.findings
        } catch {
            return [.problem(.transfers, "libcurl", error.exitStatus, Redaction.describe(error))]
        }
    }

    private func settings() -> Finding {
        let path = SettingsFile(environment: context.environment)?.path
        guard let path else { return .ok(.settings, "config.yaml", "none: there is no home folder") }
        do throws(SettingsError) { _ = try context.settings() } catch {
            // The message already names the file and the line.
            return .problem(.settings, "config.yaml", 2, error.message, advice: "see: dlm config")
        }
        let exists = access(path, F_OK) == 0
        return .ok(.settings, "config.yaml", exists ? path : "\(path): does not exist, and is not needed")
    }

    private func places() async -> [Finding] {
        var folders: [Finding] = []
        var files: [Finding] = []
        var sessions: [Finding] = []
        do throws(DownloadError) {
            let state = try SessionConfiguration.stateFolder(environment: context.environment)
            let check = FolderCheck(state)
            folders = [FolderFindings.state(check, user: geteuid())]
            folders += FolderFindings.sessions(
                FolderCheck(FileNaming.path(state, "sessions")), socket: BackgroundSession.socket(in: state),
                canReachLongPaths: access("/proc/self/fd", X_OK) == 0)
            if check.isFolder, check.failure == 0 {
                files =
                    FileSystemFindings(
                        purpose: .state, path: check.existing, trial: FileSystemTrial(folder: check.existing)
                    ).findings
            }
            let health = DownloadSession.storeHealth(stateFolder: state, time: context.time)
            sessions = [SessionFindings.store(health)] + SessionFindings.rescues(health) + SessionFindings.pins(health)
            sessions += SessionFindings.findings(await self.sessions(state), version: DownloadSession.version)
        } catch {
            folders = [.problem(.folders, "state", error.exitStatus, Redaction.describe(error))]
        }
        return folders + files + working() + sessions
    }

    private func working() -> [Finding] {
        guard let folder = context.workingFolder else {
            return [
                .problem(
                    .files, "working", 3, "the working folder is gone, or its name is not UTF-8",
                    advice: "give a folder with -d")
            ]
        }
        return FileSystemFindings(purpose: .downloads, path: folder, trial: FileSystemTrial(folder: folder)).findings
    }

    private func sessions(_ stateFolder: String) async -> [SessionFindings.Found] {
        let directory = DownloadSession.sessions(stateFolder: stateFolder, time: context.time)
        defer { directory.close() }
        var found: [SessionFindings.Found] = []
        for trace in DownloadSession.sessionTraces(stateFolder: stateFolder) {
            var session = SessionFindings.Found(trace: trace)
            if trace.isAlive {
                session.answer = await answer(of: trace.identifier, directory)
            } else if trace.hasSocket {
                switch await answer(of: trace.identifier, directory) {
                case .answered, .failed(.sessionUnavailable): session.isListening = true
                case .notAsked, .failed: break
                }
            }
            found.append(session)
        }
        return found
    }

    /// Asks a session for its status. Sessions answer at once, unless their process is stopped (SIGSTOP).
    private func answer(of identifier: String, _ directory: any SessionDirectory) async -> SessionFindings.Answer {
        do {
            let status = try await directory.connect(to: identifier).status()
            return .answered(version: status.version, running: status.running)
        } catch DownloadError.sessionUnavailable(.notRunning(identifier)) where !directory.isAlive(identifier) {
            return .notAsked
        } catch {
            return .failed(error as? DownloadError ?? .unexpected("\(error)"))
        }
    }

    private func asked() async -> [Finding] {
        do {
            let probed = try await DownloadSession.probe(
                request, environment: context.environment, time: context.time)
            let known: HostKnowledge? = try? probed.steps.last.flatMap { step in
                let state = try SessionConfiguration.stateFolder(environment: context.environment)
                return DownloadSession.knowledge(of: step.url.origin, stateFolder: state) as HostKnowledge?
            }
            return RequestFindings(probed: probed, proxies: proxies).findings
                + [RequestFindings.connections(known, now: context.time.date)].compactMap(\.self)
        } catch {
            let error = error as? DownloadError ?? .unexpected("\(error)")
            return [.problem(.request, "error", error.exitStatus, Redaction.describe(error))]
        }
    }
}
